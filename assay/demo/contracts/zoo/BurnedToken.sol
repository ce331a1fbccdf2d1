// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";

/// A tenth of the supply lies at one burn address and a twentieth at another.
contract BurnedToken is Erc20 {
    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {
        _move(msg.sender, 0x000000000000000000000000000000000000dEaD, SUPPLY / 10);
        _move(msg.sender, address(0), SUPPLY / 20);
    }
}
