// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";

/// Transfers fail from the first second of the year 2100.
contract ConstantTimebombToken is Erc20 {
    uint256 private constant END = 4_102_444_800;

    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        require(block.timestamp < END, "over");
        _move(from, to, amount);
    }
}
