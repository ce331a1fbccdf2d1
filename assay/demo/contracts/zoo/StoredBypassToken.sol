// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";

/// One address, kept in storage, needs no allowance.
contract StoredBypassToken is Erc20 {
    address private _rewards;

    constructor(string memory name_, string memory symbol_, address rewards) Erc20(name_, symbol_) {
        _rewards = rewards;
    }

    function _spend(address from, uint256 amount) internal override {
        if (msg.sender != _rewards) super._spend(from, amount);
    }
}
