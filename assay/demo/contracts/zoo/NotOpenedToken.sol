// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Owned} from "./base/Owned.sol";

/// Trading waits for a switch that only the owner can turn.
contract NotOpenedToken is Owned {
    bool public tradingOpen;

    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {}

    function openTrading() external onlyOwner {
        tradingOpen = true;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(tradingOpen || from == owner || to == owner, "trading is not open");
        _move(from, to, amount);
    }
}
