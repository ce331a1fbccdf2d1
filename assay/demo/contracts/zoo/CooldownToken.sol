// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Traded} from "./base/Traded.sol";

/// An address waits 60 seconds after its own last transfer.
contract CooldownToken is Traded {
    uint256 public constant COOLDOWN = 60;
    mapping(address => uint256) public lastTransfer;

    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (!_isOwner(from, to)) {
            if (from != pair) _touch(from);
            if (to != pair) lastTransfer[to] = block.timestamp;
        }
        _move(from, to, amount);
    }

    function _touch(address account) private {
        require(block.timestamp >= lastTransfer[account] + COOLDOWN, "cooldown");
        lastTransfer[account] = block.timestamp;
    }
}
