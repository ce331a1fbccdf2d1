// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {ERC20} from "solady/src/tokens/ERC20.sol";

contract Lady is ERC20 {
    constructor(address, address, address, address maker) {
        _mint(maker, 1e24);
    }

    function name() public pure override returns (string memory) {
        return "Lady";
    }

    function symbol() public pure override returns (string memory) {
        return "CMP";
    }
}
