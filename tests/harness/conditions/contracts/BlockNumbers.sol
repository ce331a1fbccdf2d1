// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "zoo/base/Erc20.sol";

/// Whoever received tokens may not send any for 20 blocks, which each token counts in another way.
abstract contract Waiting is Erc20 {
    mapping(address => uint256) internal _until;

    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (_until[from] != 0) _check(_until[from]);
        if (to.code.length == 0) _until[to] = block.timestamp + 20;
        _move(from, to, amount);
    }

    function _check(uint256 until) internal virtual;
}

contract Height {
    uint256 private immutable _first = block.number;
    uint256 private immutable _start = block.timestamp;

    /// Blocks come once a second.
    function check(uint256 until) external view {
        require(_start + (block.number - _first) >= until, "wait");
    }
}

contract CountedHere is Waiting {
    constructor(string memory name_, string memory symbol_) Waiting(name_, symbol_) {}

    uint256 private immutable _first = block.number;
    uint256 private immutable _start = block.timestamp;

    function _check(uint256 until) internal view override {
        require(_start + (block.number - _first) >= until, "wait");
    }
}

contract CountedByCallee is Waiting {
    constructor(string memory name_, string memory symbol_) Waiting(name_, symbol_) {}

    Height private immutable _height = new Height();

    function _check(uint256 until) internal view override {
        _height.check(until);
    }
}

contract CountedByLibrary is Waiting {
    constructor(string memory name_, string memory symbol_) Waiting(name_, symbol_) {}

    address private _height = address(new Height());

    function _check(uint256 until) internal override {
        (bool ok,) = _height.delegatecall(abi.encodeCall(Height.check, (until)));
        require(ok, "wait");
    }
}

contract Moment {
    constructor(uint256 first, uint256 start, uint256 until) {
        require(start + (block.number - first) >= until, "wait");
    }
}

contract CountedByCreation is Waiting {
    constructor(string memory name_, string memory symbol_) Waiting(name_, symbol_) {}

    uint256 private _first = block.number;
    uint256 private _start = block.timestamp;

    function _check(uint256 until) internal override {
        new Moment(_first, _start, until);
    }
}

// --- doubles: no block number decides ------------------------------------------------------------

contract Timed is Waiting {
    constructor(string memory name_, string memory symbol_) Waiting(name_, symbol_) {}

    function _check(uint256 until) internal view override {
        require(block.timestamp >= until, "wait");
    }
}

/// Precompiles count no blocks.
contract Signed is Waiting {
    constructor(string memory name_, string memory symbol_) Waiting(name_, symbol_) {}

    function _check(uint256 until) internal view override {
        require(block.timestamp >= until, "wait");
    }

    function signer(bytes32 text, uint8 v, bytes32 r, bytes32 s) external pure returns (address) {
        return ecrecover(text, v, r, s);
    }
}
