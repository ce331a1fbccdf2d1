// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Owned} from "./base/Owned.sol";

/// The owner can make more of it.
contract MintableToken is Owned {
    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {}

    function mint(address to, uint256 amount) external onlyOwner {
        _issue(to, amount);
    }
}
