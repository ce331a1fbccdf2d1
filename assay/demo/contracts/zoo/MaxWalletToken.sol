// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Traded} from "./base/Traded.sol";

/// A wallet holds at most 2 percent of the supply.
contract MaxWalletToken is Traded {
    uint256 public maxWallet = SUPPLY / 50;

    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function setMaxWallet(uint256 amount) external onlyOwner {
        maxWallet = amount;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(
            to == pair || to == owner || _balances[to] + amount <= maxWallet, "wallet is full"
        );
        _move(from, to, amount);
    }
}
