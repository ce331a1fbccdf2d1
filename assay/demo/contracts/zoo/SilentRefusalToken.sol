// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Traded} from "./base/Traded.sol";

/// Moves nothing for holders, and says so by answering false instead of reverting.
contract SilentRefusalToken is Traded {
    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function transfer(address to, uint256 amount) external override returns (bool) {
        if (!_isOwner(msg.sender, to) && msg.sender != pair) return false;
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        if (!_isOwner(from, to)) return false;
        _spend(from, amount);
        _move(from, to, amount);
        return true;
    }
}
