// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {ERC20} from "solmate/src/tokens/ERC20.sol";

contract Mate is ERC20 {
    constructor(address, address, address, address maker) ERC20("Mate", "CMP", 18) {
        _mint(maker, 1e24);
    }
}
