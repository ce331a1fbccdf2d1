// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";

/// symbol() answers with a megabyte.
contract MegabyteToken is Erc20 {
    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {}

    function symbol() external pure override returns (string memory) {
        assembly {
            mstore(0x00, 0x20)
            mstore(0x20, 0xfffc0)
            return(0x00, 0x100000)
        }
    }
}
