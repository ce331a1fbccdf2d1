// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "base/Erc20.sol";

/// Debits the amount in 128 bits, credits it in 256.
contract NarrowDebit is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 debited = uint128(amount);
        require(_balances[from] >= debited, "balance");
        unchecked {
            _balances[from] -= debited;
            _balances[to] += amount;
        }
        emit Transfer(from, to, amount);
    }
}

/// Reads both balances before it writes either.
contract SelfDouble is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 left = _balances[from] - amount;
        uint256 more = _balances[to] + amount;
        _balances[from] = left;
        _balances[to] = more;
        emit Transfer(from, to, amount);
    }
}

/// The product of a batch wraps.
contract ProductWraps is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function batchTransfer(address[] calldata to, uint256 amount) external {
        unchecked {
            uint256 sum = to.length * amount;
            require(_balances[msg.sender] >= sum, "balance");
            _balances[msg.sender] -= sum;
            for (uint256 i; i < to.length; ++i) {
                _balances[to[i]] += amount;
                emit Transfer(msg.sender, to[i], amount);
            }
        }
    }
}

/// The sum of a batch wraps.
contract SumWraps is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function multiSend(address[] calldata to, uint256[] calldata amounts) external {
        unchecked {
            uint256 sum;
            for (uint256 i; i < to.length; ++i) sum += amounts[i];
            require(_balances[msg.sender] >= sum, "balance");
            _balances[msg.sender] -= sum;
            for (uint256 i; i < to.length; ++i) _balances[to[i]] += amounts[i];
        }
    }
}

/// A wei buys a trillion that no supply counts.
contract PaidCredit is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function deposit() external payable {
        _balances[msg.sender] += msg.value * 1e30;
    }
}

/// Counted in the supply, and a billion times cheaper than in the pool.
contract CheapMint is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    receive() external payable {
        _issue(msg.sender, msg.value * 1e9);
    }
}

/// A set-up that nobody has called yet.
contract UnusedSetup is Erc20 {
    bool private _isDone;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function initialize() external {
        require(!_isDone, "once");
        _isDone = true;
        _balances[msg.sender] += 1e30;
    }
}

/// A set-up that nobody has called yet names its caller as the owner, who may mint.
contract UnownedMint is Erc20 {
    address private _owner;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function initialize() external {
        require(_owner == address(0), "once");
        _owner = msg.sender;
    }

    function mint(address to, uint256 amount) external {
        require(msg.sender == _owner, "owner");
        _issue(to, amount);
    }
}

/// Burns a negative amount.
contract NegativeBurn is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function burn(uint256 amount) external {
        unchecked {
            _balances[msg.sender] -= amount;
            totalSupply -= amount;
        }
        emit Transfer(msg.sender, address(0), amount);
    }
}

/// A difference that wraps.
contract WrappingSend is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function send(address to, uint256 amount) external {
        unchecked {
            _balances[msg.sender] -= amount;
            _balances[to] += amount;
        }
        emit Transfer(msg.sender, to, amount);
    }
}

/// Two steps: one notes, the other credits, an hour later.
contract LateClaim is Erc20 {
    mapping(address => uint256) private _since;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function begin() external {
        _since[msg.sender] = block.timestamp;
    }

    function claim() external {
        require(_since[msg.sender] != 0 && block.timestamp > _since[msg.sender] + 1 hours, "early");
        _since[msg.sender] = 0;
        _balances[msg.sender] += 100_000 ether;
    }
}

/// Twice as much comes back from the second ledger as went into it.
contract TwoLedgers is Erc20 {
    mapping(address => uint256) private _shares;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function wrap(uint256 amount) external {
        _balances[msg.sender] -= amount;
        _shares[msg.sender] += 2 * amount;
    }

    function unwrap(uint256 shares) external {
        _shares[msg.sender] -= shares;
        _balances[msg.sender] += shares;
    }
}

/// Anybody may mint; the supply counts it.
contract FreeMint is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function mint(uint256 amount) external {
        _issue(msg.sender, amount);
    }
}

/// Whoever takes from himself keeps what he had.
contract SelfSpend is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        if (from != msg.sender) {
            _spend(from, amount);
            _transfer(from, to, amount);
        } else {
            require(_balances[from] >= amount, "balance");
            _balances[to] += amount;
        }
        return true;
    }
}

/// A function that only the dispatcher names.
contract UnnamedFunction is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    fallback() external {
        require(msg.sig == 0x12345678, "unknown");
        uint256 amount;
        assembly {
            amount := calldataload(4)
        }
        _balances[msg.sender] += amount;
    }
}

/// What is sent to the token comes back with a tenth more.
contract Refund is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        _move(from, to, amount);
        if (to == address(this)) {
            _balances[to] -= amount;
            _balances[from] += amount + amount / 10;
        }
    }
}
