// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "base/Erc20.sol";

interface ICallee { function hello() external; }

/// What was tested once no longer holds when it is relied on. `act` gets two accounts and an amount;
/// the caller is a contract that answers `hello`.
abstract contract Stale is Erc20 {
    constructor() Erc20("Stale", "STL") {}
    function _give(address to, uint256 v) internal { unchecked { _balances[to] += v; } }
}

contract MarkedBetween is Stale {
    mapping(address => bool) private _in;
    function act(address from, address to, uint256 v) external {
        if (_in[from]) return;
        _in[to] = true;
        if (_in[from]) _give(to, v);
    }
}

/// The callee marks itself.
contract MarkedInCall is Stale {
    mapping(address => bool) private _in;
    function mark() external { _in[msg.sender] = true; }
    function act(address, address to, uint256 v) external {
        if (_in[msg.sender]) return;
        ICallee(msg.sender).hello();
        if (_in[msg.sender]) _give(to, v);
    }
}

contract MarkedByOwnCode is Stale {
    mapping(address => bool) private _in;
    function mark() external { _in[msg.sender] = true; }
    function act(address, address to, uint256 v) external {
        if (_in[msg.sender]) return;
        (bool ok,) = address(this).delegatecall(abi.encodeWithSignature("mark()"));
        require(ok);
        if (_in[msg.sender]) _give(to, v);
    }
}

contract TransientMark is Stale {
    function act(address from, address to, uint256 v) external {
        uint256 seen;
        assembly { seen := tload(from) }
        if (seen != 0) return;
        assembly { tstore(to, 1) seen := tload(from) }
        if (seen != 0) _give(to, v);
    }
}

contract ZeroRateBefore is Stale {
    mapping(address => uint256) private _rate;
    function act(address from, address to, uint256 v) external {
        require(_rate[from] == 0);
        _rate[to] = 3;
        _give(to, _rate[from] * v);
    }
}

contract CheckedThenCalled is Stale {
    function act(address, address to, uint256 v) external {
        require(_balances[msg.sender] >= v);
        ICallee(msg.sender).hello();
        unchecked { _balances[msg.sender] -= v; _balances[to] += v; }
    }
}

contract ReadThenCalled is Stale {
    function act(address, address to, uint256 v) external {
        uint256 held = _balances[msg.sender];
        require(held >= v);
        ICallee(msg.sender).hello();
        _balances[msg.sender] = held - v;
        _balances[to] += v;
    }
}

contract NestedSelfDouble is Stale {
    mapping(uint256 => mapping(address => uint256)) private _of;
    uint256 private _epoch = 7;
    constructor() { _of[7][msg.sender] = totalSupply; _balances[msg.sender] = 0; }
    function balanceOf(address who) public view override returns (uint256) { return _of[_epoch][who]; }
    function _transfer(address from, address to, uint256 v) internal override {
        uint256 e = _epoch;
        require(_of[e][from] >= v);
        unchecked { _of[e][from] -= v; _of[e][to] += v; }
        emit Transfer(from, to, v);
    }
    function act(address from, address to, uint256 v) external {
        require(from == msg.sender);
        uint256 e = _epoch;
        uint256 a = _of[e][from];
        uint256 b = _of[e][to];
        require(a >= v);
        unchecked { _of[e][from] = a - v; _of[e][to] = b + v; }
    }
}

contract FieldSelfDouble is Stale {
    struct Account { uint256 since; uint256 held; }
    mapping(address => Account) private _accounts;
    constructor() { _accounts[msg.sender].held = totalSupply; _balances[msg.sender] = 0; }
    function balanceOf(address who) public view override returns (uint256) { return _accounts[who].held; }
    function _transfer(address from, address to, uint256 v) internal override {
        require(_accounts[from].held >= v);
        unchecked { _accounts[from].held -= v; _accounts[to].held += v; }
        emit Transfer(from, to, v);
    }
    function act(address from, address to, uint256 v) external {
        require(from == msg.sender);
        uint256 a = _accounts[from].held;
        uint256 b = _accounts[to].held;
        require(a >= v);
        unchecked { _accounts[from].held = a - v; _accounts[to].held = b + v; }
    }
}

// --- honest -------------------------------------------------------------------------------------

/// The mark is another variable than the one tested.
contract MarkedElsewhere is Stale {
    mapping(address => bool) private _in;
    mapping(address => bool) private _seen;
    function act(address from, address to, uint256 v) external {
        if (_in[from]) return;
        _seen[to] = true;
        if (_in[from]) _give(to, v);
    }
}

/// Checked again after the call.
contract CalledThenChecked is Stale {
    function act(address, address to, uint256 v) external {
        require(_balances[msg.sender] >= v);
        ICallee(msg.sender).hello();
        _balances[msg.sender] -= v;
        unchecked { _balances[to] += v; }
    }
}

/// The callee is the deployer's own.
contract ReadThenHelped is Stale {
    address private _helper = msg.sender;
    function act(address, address to, uint256 v) external {
        require(msg.sender != to);
        uint256 held = _balances[msg.sender];
        require(held >= v);
        (bool ok,) = _helper.call("");
        require(ok);
        _balances[msg.sender] = held - v;
        _balances[to] += v;
    }
}

contract NestedHonest is Stale {
    mapping(uint256 => mapping(address => uint256)) private _of;
    constructor() { _of[7][msg.sender] = totalSupply; _balances[msg.sender] = 0; }
    function balanceOf(address who) public view override returns (uint256) { return _of[7][who]; }
    function _transfer(address from, address to, uint256 v) internal override {
        require(_of[7][from] >= v);
        unchecked { _of[7][from] -= v; _of[7][to] += v; }
        emit Transfer(from, to, v);
    }
    function act(address from, address to, uint256 v) external {
        require(from == msg.sender);
        _transfer(from, to, v);
    }
}

/// An endless allowance is used after a call, as where transfers sell fees.
contract EndlessAfterCall is Stale {
    address private _helper = msg.sender;
    function act(address from, address to, uint256 v) external {
        bool isEndless = _allowances[from][msg.sender] == type(uint256).max;
        (bool ok,) = _helper.call("");
        require(ok);
        if (!isEndless) _allowances[from][msg.sender] -= v;
        require(_balances[from] >= v);
        unchecked { _balances[from] -= v; _balances[to] += v; }
    }
}

// --- the caller ---------------------------------------------------------------------------------

interface IStale {
    function mark() external;
    function act(address, address, uint256) external;
    function transfer(address, uint256) external returns (bool);
    function balanceOf(address) external view returns (uint256);
}

/// Calls `act`, and in the callback marks itself and gives away what it has.
contract Actor {
    address private _friend;
    function run(address token, address to, uint256 v, address friend) external {
        _friend = friend;
        IStale(token).act(address(this), to, v);
    }
    function hello() external {
        try IStale(msg.sender).mark() {} catch {}
        uint256 held = IStale(msg.sender).balanceOf(address(this));
        IStale(msg.sender).transfer(_friend, held);
    }
}
