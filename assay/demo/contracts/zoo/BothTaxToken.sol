// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Taxed} from "./base/Taxed.sol";
import {Traded} from "./base/Traded.sol";

/// Keeps 5 percent of every buy and 9 of every sell.
contract BothTaxToken is Taxed {
    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
        Taxed(5, 9)
    {}
}
