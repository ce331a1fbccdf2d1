// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "base/Erc20.sol";

/// Each trap has a function `act` that leaves more tokens than there were; each double does the same
/// without that. `act` gets two accounts and an amount.
abstract contract Sums is Erc20 {
    constructor() Erc20("Sums", "SUM") {}
}

// --- both balances are read first ---------------------------------------------------------------

contract SelfDouble is Sums {
    function act(address, address to, uint256 v) external {
        uint256 a = _balances[msg.sender];
        uint256 b = _balances[to];
        require(a >= v);
        unchecked { _balances[msg.sender] = a - v; _balances[to] = b + v; }
    }
}

/// The recipient's balance is read again, but the old one is stored.
contract ReadTwice is Sums {
    event Seen(uint256 balance);
    function act(address, address to, uint256 v) external {
        uint256 a = _balances[msg.sender];
        uint256 b = _balances[to];
        require(a >= v);
        _balances[msg.sender] = a - v;
        uint256 later = _balances[to];
        emit Seen(later);
        require(later < SUPPLY * 2);
        _balances[to] = b + v;
    }
}

/// The supply is raised twice from the same number.
contract SupplyTwice is Sums {
    function act(address, address to, uint256 v) external {
        uint256 old = totalSupply;
        totalSupply = old + v;
        _balances[to] += v;
        totalSupply = old + v;
        _balances[to] += v;
    }
}

/// The supply is raised and lowered again, the balance is not.
contract SupplyTakenBack is Sums {
    function act(address, address to, uint256 v) external {
        totalSupply += v;
        _balances[to] += v;
        totalSupply -= v;
    }
}

/// The supply is raised, and then set.
contract SupplySet is Sums {
    function act(address, address to, uint256 v) external {
        totalSupply += v;
        _balances[to] += v;
        totalSupply = SUPPLY;
    }
}

/// The old balance waits in memory.
contract KeptInMemory is Sums {
    function act(address, address to, uint256 v) external {
        uint256[] memory kept = new uint256[](2);
        kept[0] = _balances[to];
        _balances[msg.sender] -= v;
        _balances[to] = kept[0] + v;
    }
}

contract OtherThanSelf is Sums {
    function act(address, address to, uint256 v) external {
        require(msg.sender != to);
        uint256 a = _balances[msg.sender];
        uint256 b = _balances[to];
        require(a >= v);
        unchecked { _balances[msg.sender] = a - v; _balances[to] = b + v; }
    }
}

/// A limit is checked with a balance that is read again before it is stored.
contract LimitFirst is Sums {
    function act(address, address to, uint256 v) external {
        require(_balances[to] + v <= SUPPLY);
        _balances[msg.sender] -= v;
        _balances[to] += v;
    }
}

// --- amounts on both sides ----------------------------------------------------------------------

contract NarrowDebit is Sums {
    function act(address, address to, uint256 v) external {
        uint256 d = uint128(v << 110);
        _balances[msg.sender] -= d;
        _balances[to] += v << 110;
    }
}

contract NarrowCredit is Sums {
    function act(address, address to, uint256 v) external {
        _balances[msg.sender] -= v;
        _balances[to] += uint128(v);
    }
}

contract FlatFee is Sums {
    function act(address, address to, uint256 v) external {
        uint256 sent = v / 10**16;
        require(_balances[msg.sender] >= sent);
        unchecked { _balances[msg.sender] -= sent; _balances[to] += sent - 10**15; }
    }
}

contract CheckedFee is Sums {
    function act(address, address to, uint256 v) external {
        require(v >= 10**15);
        require(_balances[msg.sender] >= v);
        unchecked { _balances[msg.sender] -= v; _balances[to] += v - 10**15; _balances[address(this)] += 10**15; }
    }
}

contract FeeOnTop is Sums {
    function act(address, address to, uint256 v) external {
        uint256 fee = v / 100;
        _balances[msg.sender] -= v;
        _balances[to] += v;
        _balances[address(this)] += fee;
    }
}

contract SplitFee is Sums {
    uint256 internal _rate = 3;
    function act(address, address to, uint256 v) external {
        uint256 fee = v * _rate / 100;
        uint256 half = fee / 2;
        _balances[msg.sender] -= v;
        _balances[address(this)] += half;
        _balances[address(1)] += fee - half;
        _balances[to] += v - fee;
    }
}

contract DoubleCredit is Sums {
    function act(address, address to, uint256 v) external {
        _balances[msg.sender] -= v;
        _balances[to] = (_balances[to] + v) << 1;
    }
}

contract Unchecked is Sums {
    function act(address, address to, uint256 v) external {
        unchecked { _balances[msg.sender] -= v + SUPPLY; _balances[to] += v + SUPPLY; }
    }
}

/// The check is of a balance that another debit lowers before.
contract CheckedOnce is Sums {
    function act(address, address to, uint256 v) external {
        require(_balances[msg.sender] >= v);
        unchecked {
            for (uint256 i; i < 2; ++i) _balances[msg.sender] -= v;
            _balances[to] += v;
            _balances[address(1)] += v;
        }
    }
}

// --- what is stored between both sides ----------------------------------------------------------

contract ChangedRate is Sums {
    uint256 internal _rate = 1;
    function act(address, address to, uint256 v) external {
        _balances[msg.sender] -= v * _rate;
        _raise(v);
        _balances[to] += v * _rate;
    }
    function _raise(uint256 v) internal {
        while (_rate < v && _rate < 3) _rate += 1;
    }
}

contract Sweep is Sums {
    function act(address, address to, uint256) external {
        uint256 all = _balances[msg.sender];
        _balances[msg.sender] = 0;
        _balances[to] += all;
    }
}

// --- batches ------------------------------------------------------------------------------------

contract Batch is Sums {
    function act(address a, address b, uint256 v) external {
        address[2] memory to = [a, b];
        unchecked {
            uint256 sum = to.length * (v << 237);
            require(_balances[msg.sender] >= sum);
            _balances[msg.sender] -= sum;
            for (uint256 i; i < to.length; ++i) _balances[to[i]] += v << 237;
        }
    }
}

contract EachOfBatch is Sums {
    function act(address a, address b, uint256 v) external {
        address[2] memory to = [a, b];
        for (uint256 i; i < to.length; ++i) _move(msg.sender, to[i], v / 2);
    }
}

// --- out of nothing -----------------------------------------------------------------------------

contract PaidMint is Sums {
    function act(address, address, uint256 v) external payable {
        _balances[msg.sender] += v * 1e12;
    }
}

contract OpenSetUp is Sums {
    bool internal _done;
    function act(address, address, uint256 v) external {
        require(!_done);
        _done = true;
        _balances[msg.sender] += v;
    }
}

contract BehindHash is Sums {
    function act(address, address, uint256 v) external {
        require(uint256(keccak256(abi.encode(v))) > 1);
        _balances[msg.sender] += v;
    }
}

contract Claim is Sums {
    mapping(address => bool) internal _claimed;
    function act(address, address, uint256) external {
        require(!_claimed[msg.sender]);
        _claimed[msg.sender] = true;
        if (_balances[address(this)] >= 5) _move(address(this), msg.sender, 5);
    }
}

contract Burn is Sums {
    function act(address, address, uint256 v) external {
        _balances[msg.sender] -= v;
        totalSupply -= v;
    }
}

/// Both amounts are answers of one contract to different questions.
contract TwoAnswers is Sums {
    function low() external pure returns (uint256) { return 1; }
    function high() external pure returns (uint256) { return 5; }
    function act(address, address to, uint256) external {
        _balances[msg.sender] -= this.low();
        _balances[to] += this.high();
    }
}

/// One answer is used on both sides.
contract OneAnswer is Sums {
    function low() external pure returns (uint256) { return 1; }
    function act(address, address to, uint256) external {
        uint256 answer = this.low();
        _balances[msg.sender] -= answer;
        _balances[to] += answer;
    }
}

/// The supply is kept in fewer bits than it is computed with.
contract NarrowSupply is Sums {
    function act(address, address to, uint256 v) external {
        uint256 grown = totalSupply + uint96(v);
        totalSupply = uint96(grown);
        _balances[to] += uint96(v);
    }
}

contract CheckedSupply is Sums {
    function act(address, address to, uint256 v) external {
        uint256 grown = totalSupply + uint96(v);
        require(grown < 2**96);
        totalSupply = uint96(grown);
        _balances[to] += uint96(v);
    }
}

/// A repeated call may return another value, so equal expressions need not have the same one.
contract GrownAnswer is Sums {
    uint256 public paid;
    function pay() external { paid += 1; }
    function act(address, address to, uint256) external {
        uint256 before = this.paid();
        this.pay();
        _balances[to] += this.paid() - before;
    }
}

/// Both elements of a list are constant places of the code, which never reads the length.
contract ListedPair is Sums {
    address[] internal _route;
    function act(address from, address to, uint256) external {
        assembly { mstore(0, _route.slot) let start := keccak256(0, 32) sstore(start, from) sstore(add(start, 1), to) }
    }
}
