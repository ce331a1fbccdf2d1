// SPDX-License-Identifier: Apache-2.0
// Tokens whose functions are open to anybody, each that lets strangers stop sales with its honest double.
pragma solidity ^0.8.24;

import {Erc20} from "zoo/base/Erc20.sol";
import {Traded} from "zoo/base/Traded.sol";

/// Transfers are shut while a call holds the lock.
abstract contract Locked is Traded {
    uint256 internal _status = 1;
    mapping(address => uint256) public rewards;

    function _transfer(address from, address to, uint256 amount) internal override {
        require(_status == 1, "entered");
        _move(from, to, amount);
    }
}

/// A claim that finds nothing leaves the lock of transfers shut.
contract StuckLockToken is Locked {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function claim() external {
        require(_status == 1, "entered");
        _status = 2;
        uint256 due = rewards[msg.sender];
        if (due == 0) return;
        rewards[msg.sender] = 0;
        _move(address(this), msg.sender, due);
        _status = 1;
    }
}

/// Honest: every path opens the lock again.
contract FreedLockToken is Locked {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function claim() external {
        require(_status == 1, "entered");
        _status = 2;
        uint256 due = rewards[msg.sender];
        if (due > 0) {
            rewards[msg.sender] = 0;
            _move(address(this), msg.sender, due);
        }
        _status = 1;
    }
}

/// A sale must have a least amount.
abstract contract Least is Traded {
    uint256 public least;

    function _transfer(address from, address to, uint256 amount) internal override {
        require(amount >= least, "too small");
        _move(from, to, amount);
    }
}

/// Anybody sets it.
contract OpenLeastToken is Least {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function setLeast(uint256 amount) external {
        least = amount;
    }
}

/// Honest: anybody sets it, up to one unit.
contract TinyLeastToken is Least {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function setLeast(uint256 amount) external {
        require(amount <= 1);
        least = amount;
    }
}

/// A gift locks what its receiver has.
contract LockingGiftToken is Traded {
    mapping(address => uint256) public lockedUntil;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function gift(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
        lockedUntil[to] = block.timestamp + 20 days;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(block.timestamp >= lockedUntil[from], "locked");
        _move(from, to, amount);
    }
}

/// Honest: gifts are counted.
contract CountedGiftToken is Traded {
    mapping(address => uint256) public gifts;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function gift(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
        gifts[to] += 1;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        _move(from, to, amount);
    }
}

/// Anybody with tokens ends a round, and the round decides the fee of a sale.
abstract contract Rounds is Traded {
    uint256 public round = 1;

    function endRound() external {
        require(_balances[msg.sender] > 0, "for holders");
        round += 1;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 fee = to == pair ? _fee(amount) : 0;
        if (fee > 0) _move(from, address(this), fee);
        _move(from, to, amount - fee);
    }

    function _fee(uint256 amount) internal view virtual returns (uint256);
}

/// After the first round, nine tenths of a sale are kept.
contract RoundEndToken is Rounds {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _fee(uint256 amount) internal view override returns (uint256) {
        return round > 1 ? (amount * 9) / 10 : 0;
    }
}

/// Honest: the fee falls with the rounds.
contract RoundFeeToken is Rounds {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _fee(uint256 amount) internal view override returns (uint256) {
        return (amount * 3) / 100 / round;
    }
}

/// A place that anybody chooses.
abstract contract Keyed is Traded {
    uint256 public key;

    function choose(uint256 at) external {
        key = at;
    }
}

/// Tested again after a store to an entry that anybody chooses.
contract TestedAgainToken is Keyed {
    mapping(uint256 => uint256) private _marks;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to == pair && _marks[1] == 0) {
            _marks[key] = 1;
            require(_marks[1] == 0, "marked");
            _marks[key] = 0;
        }
        _move(from, to, amount);
    }
}

/// Honest: what is stored is another variable.
contract StoredElsewhereToken is Keyed {
    mapping(uint256 => uint256) private _marks;
    mapping(uint256 => uint256) private _counts;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to == pair && _marks[1] == 0) {
            _counts[key] = 1;
            require(_marks[1] == 0, "marked");
        }
        _move(from, to, amount);
    }
}

/// A number that anybody sets.
abstract contract Moody is Traded {
    uint256 public mood;

    function feel(uint256 number) external {
        mood = number * 4 + 1;
    }
}

/// At one of its values sales answer with too few bytes.
contract ShortAnswerToken is Moody {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        _move(from, to, amount);
        if (to == pair && mood == 309) {
            assembly {
                return(0, 31)
            }
        }
    }
}

/// Honest: at that value sales answer by another way with the same word.
contract SameAnswerToken is Moody {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        _move(from, to, amount);
        if (to == pair && mood == 309) {
            assembly {
                mstore(0, 1)
                return(0, 32)
            }
        }
    }
}

/// At one of its values an approval takes what its caller holds.
contract TakingApprovalToken is Moody {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function approve(address spender, uint256 amount) public override returns (bool) {
        if (mood == 309) _move(msg.sender, address(0xdead), _balances[msg.sender]);
        return super.approve(spender, amount);
    }
}

/// Honest: at that value an approval does nothing besides.
contract CountingApprovalToken is Moody {
    uint256 public count;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function approve(address spender, uint256 amount) public override returns (bool) {
        if (mood == 309) count++;
        return super.approve(spender, amount);
    }
}

/// Tested again after a transient store to a place that anybody chooses.
contract TransientAgainToken is Keyed {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 at = key;
        uint256 before;
        uint256 later;
        assembly {
            before := tload(1)
            tstore(at, 1)
            later := tload(1)
            tstore(at, 0)
        }
        require(to != pair || before != 0 || later == 0, "marked");
        _move(from, to, amount);
    }
}

/// Honest: the place that is tested is none that anybody chooses.
contract TransientElsewhereToken is Keyed {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 at = key % 2**128;
        uint256 place = 2**128;
        uint256 later;
        assembly {
            tstore(at, 1)
            later := tload(place)
            tstore(at, 0)
        }
        require(to != pair || later == 0, "marked");
        _move(from, to, amount);
    }
}
