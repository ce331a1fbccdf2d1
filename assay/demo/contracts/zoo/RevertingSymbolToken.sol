// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";

/// symbol() reverts.
contract RevertingSymbolToken is Erc20 {
    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {}

    function symbol() external pure override returns (string memory) {
        revert("no symbol");
    }
}
