// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "zoo/base/Erc20.sol";
import {Owned} from "zoo/base/Owned.sol";

interface IFactory {
    function getPair(address, address) external view returns (address);
    function createPair(address, address) external returns (address);
}

interface IWrapped {
    function deposit() external payable;
    function transfer(address, uint256) external returns (bool);
}

interface IPair {
    function mint(address) external returns (uint256);
}

/// Closed until one account opens it; sales are taxed then.
abstract contract Launched is Owned {
    IFactory internal immutable factory;
    address internal immutable wrapped;
    address public opener;
    address public pair;
    bool public isOpen;

    constructor(IFactory factory_, address wrapped_, address opener_) {
        factory = factory_;
        wrapped = wrapped_;
        opener = opener_;
    }

    function _open() internal {
        pair = factory.getPair(address(this), wrapped);
        isOpen = true;
    }

    function _taxed(address from, address to, uint256 amount, uint256 percent) internal {
        uint256 fee = to == pair && from != owner ? amount * percent / 100 : 0;
        if (fee > 0) _move(from, address(this), fee);
        _move(from, to, amount - fee);
    }
}

contract TaxedLaunchToken is Launched {
    constructor(string memory name_, string memory symbol_, IFactory f, address w, address o)
        Erc20(name_, symbol_)
        Launched(f, w, o)
    {}

    function enableTrading() external {
        require(msg.sender == opener, "not you");
        _open();
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(isOpen || from == owner || to == owner, "closed");
        _taxed(from, to, amount, 3);
    }
}

/// The call that opens trading creates the pair, with what the token itself has.
contract SelfLaunchToken is Launched {
    constructor(string memory name_, string memory symbol_, IFactory f, address w, address o)
        Erc20(name_, symbol_)
        Launched(f, w, o)
    {
        _move(owner, address(this), SUPPLY / 2);
    }

    receive() external payable {}

    function openTrading() external onlyOwner {
        require(!isOpen, "open already");
        pair = factory.createPair(address(this), wrapped);
        uint256 coins = address(this).balance;
        IWrapped(wrapped).deposit{value: coins}();
        IWrapped(wrapped).transfer(pair, coins);
        _move(address(this), pair, SUPPLY / 2);
        IPair(pair).mint(owner);
        isOpen = true;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(isOpen || from == owner || to == owner, "closed");
        _taxed(from, to, amount, 5);
    }
}

/// Sales pass only in the first hours of a pair.
contract FreshPairToken is Launched {
    uint256 private _opened;

    constructor(string memory name_, string memory symbol_, IFactory f, address w, address o)
        Erc20(name_, symbol_)
        Launched(f, w, o)
    {}

    function enableTrading() external onlyOwner {
        _open();
        _opened = block.timestamp;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(isOpen || from == owner || to == owner, "closed");
        require(to != pair || from == owner || block.timestamp < _opened + 2 hours, "too late");
        _taxed(from, to, amount, 0);
    }
}

/// Nobody but the owner ever moves it.
contract NeverOpenToken is Launched {
    constructor(string memory name_, string memory symbol_, IFactory f, address w, address o)
        Erc20(name_, symbol_)
        Launched(f, w, o)
    {}

    function enableTrading() external onlyOwner {
        isOpen = true;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(from == owner || to == owner || (isOpen && amount == 0), "closed");
        _move(from, to, amount);
    }
}
