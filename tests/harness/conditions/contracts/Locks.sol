// SPDX-License-Identifier: Apache-2.0
// Tokens that lock what was bought, openly or not.
pragma solidity ^0.8.24;

import {Erc20} from "zoo/base/Erc20.sol";
import {Traded} from "zoo/base/Traded.sol";

abstract contract Lock is Traded {
    mapping(address => uint256) internal _since;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (!_isOwner(from, to)) {
            if (from == pair) _mark(to);
            else require(block.timestamp >= _end(from), "locked");
        }
        _move(from, to, amount);
    }

    function _mark(address to) internal virtual {
        _since[to] = block.timestamp;
    }

    function _end(address from) internal view virtual returns (uint256) {
        return _since[from] + 1 days;
    }
}

/// Honest: everybody waits a day after a buy.
contract DayLockToken is Lock {
    constructor(string memory n, string memory s, address p) Lock(n, s, p) {}
}

/// Honest: the same, and the end is written down.
contract EndLockToken is Lock {
    constructor(string memory n, string memory s, address p) Lock(n, s, p) {}

    function _mark(address to) internal override {
        _since[to] = block.timestamp + 1 days;
    }

    function _end(address from) internal view override returns (uint256) {
        return _since[from];
    }
}

/// Everybody waits a year.
contract YearLockToken is Lock {
    constructor(string memory n, string memory s, address p) Lock(n, s, p) {}

    function _end(address from) internal view override returns (uint256) {
        return _since[from] + 365 days;
    }
}

/// Each buy of anybody makes the next one wait an hour longer.
contract GrowingLockToken is Lock {
    uint256 private _buys = 2;

    constructor(string memory n, string memory s, address p) Lock(n, s, p) {}

    function _mark(address to) internal override {
        _buys += 1;
        _since[to] = block.timestamp + _buys * 1 hours;
    }
}

/// The owner sets how long, without a bound.
contract OwnersLockToken is Lock {
    uint256 private _wait = 1 days;

    constructor(string memory n, string memory s, address p) Lock(n, s, p) {}

    function setWait(uint256 wait_) external onlyOwner {
        _wait = wait_;
    }

    function _end(address from) internal view override returns (uint256) {
        return _since[from] + _wait;
    }
}

/// One account in the code sells at once.
contract InsiderLockToken is Lock {
    constructor(string memory n, string memory s, address p) Lock(n, s, p) {}

    function _end(address from) internal view override returns (uint256) {
        if (from == 0x1111111111111111111111111111111111111111) return 0;
        return _since[from] + 1 days;
    }
}

/// An account in storage sells at once.
contract FriendLockToken is Lock {
    address private _friend = 0x1111111111111111111111111111111111111111;

    constructor(string memory n, string memory s, address p) Lock(n, s, p) {}

    function _mark(address to) internal override {
        if (to != _friend) _since[to] = block.timestamp;
    }
}

/// Accounts on the owner's list sell at once.
contract ListedLockToken is Lock {
    mapping(address => bool) private _free;

    constructor(string memory n, string memory s, address p) Lock(n, s, p) {}

    function setFree(address account, bool free) external onlyOwner {
        _free[account] = free;
    }

    function _mark(address to) internal override {
        if (!_free[to]) _since[to] = block.timestamp;
    }
}
