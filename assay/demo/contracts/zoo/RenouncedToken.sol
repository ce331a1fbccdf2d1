// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Owned} from "./base/Owned.sol";

/// Could be paused, but nobody owns it any more.
contract RenouncedToken is Owned {
    bool public paused;

    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {}

    function setPaused(bool paused_) external onlyOwner {
        paused = paused_;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(!paused, "paused");
        _move(from, to, amount);
    }
}
