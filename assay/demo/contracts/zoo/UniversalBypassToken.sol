// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";

/// transferFrom never looks at the allowance.
contract UniversalBypassToken is Erc20 {
    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {}

    function _spend(address, uint256) internal override {}
}
