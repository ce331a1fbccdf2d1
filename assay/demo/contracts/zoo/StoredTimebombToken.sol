// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Owned} from "./base/Owned.sol";

/// Transfers fail after a deadline that the owner can move; first 30 days after creation.
contract StoredTimebombToken is Owned {
    uint256 public deadline = block.timestamp + 30 days;

    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {}

    function setDeadline(uint256 time) external onlyOwner {
        deadline = time;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(block.timestamp < deadline, "over");
        _move(from, to, amount);
    }
}
