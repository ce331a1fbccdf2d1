// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";

/// symbol() burns all the gas it is given.
contract GasBurnerToken is Erc20 {
    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {}

    function symbol() external pure override returns (string memory) {
        uint256 spin;
        while (true) {
            unchecked {
                ++spin;
            }
        }
        return "";
    }
}
