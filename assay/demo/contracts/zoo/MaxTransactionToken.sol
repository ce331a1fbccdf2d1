// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Owned} from "./base/Owned.sol";

/// One transfer moves at most 1 percent of the supply.
contract MaxTransactionToken is Owned {
    uint256 public maxTransaction = SUPPLY / 100;

    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {}

    function setMaxTransaction(uint256 amount) external onlyOwner {
        maxTransaction = amount;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(amount <= maxTransaction || from == owner || to == owner, "over the maximum");
        _move(from, to, amount);
    }
}
