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

/// Debits a batch of more than four once.
contract LongBatch is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function send(address[] calldata accounts, uint256 amount) external {
        uint256 count = accounts.length > 4 ? 1 : accounts.length;
        require(_balances[msg.sender] >= amount * count, "balance");
        _balances[msg.sender] -= amount * count;
        for (uint256 at; at < accounts.length; ++at) {
            _balances[accounts[at]] += amount;
            emit Transfer(msg.sender, accounts[at], amount);
        }
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

/// A quarter more comes back from the second ledger than went into it.
contract TwoLedgers is Erc20 {
    mapping(address => uint256) private _shares;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function wrap(uint256 amount) external {
        _balances[msg.sender] -= amount;
        _shares[msg.sender] += (amount * 5) / 4;
    }

    function unwrap(uint256 shares) external {
        _shares[msg.sender] -= shares;
        _balances[msg.sender] += shares;
    }
}

/// As LateClaim, once for each account.
contract LateOnce is Erc20 {
    mapping(address => uint256) private _since;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function begin() external {
        require(_since[msg.sender] == 0, "once");
        _since[msg.sender] = block.timestamp;
    }

    function claim() external {
        require(_since[msg.sender] != 0 && block.timestamp > _since[msg.sender] + 1 hours, "early");
        _since[msg.sender] = type(uint256).max;
        _balances[msg.sender] += 100_000 ether;
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

abstract contract Pooled is Erc20 {
    address internal immutable pair;

    constructor(string memory n, string memory s, address pair_) Erc20(n, s) {
        pair = pair_;
    }
}

/// Anybody takes half of the pool's tokens.
contract PoolTaker is Pooled {
    constructor(string memory n, string memory s, address p) Pooled(n, s, p) {}

    function collect() external {
        _move(pair, msg.sender, _balances[pair] / 2);
    }
}

/// Anybody burns half of the pool's tokens, which makes those of holders dear.
contract PoolBurner is Pooled {
    constructor(string memory n, string memory s, address p) Pooled(n, s, p) {}

    function burnPool() external {
        _move(pair, address(0xdead), _balances[pair] / 2);
    }
}

/// As SelfDouble, one transfer of each account a block.
contract SlowDouble is SelfDouble {
    mapping(address => uint256) private _last;
    address private immutable _maker = msg.sender;

    constructor(string memory n, string memory s) SelfDouble(n, s) {}

    function transfer(address to, uint256 amount) external override returns (bool) {
        require(msg.sender == _maker || block.number > _last[msg.sender], "wait");
        _last[msg.sender] = block.number;
        _transfer(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        require(from != to && (from == _maker || block.number > _last[from]), "wait");
        _last[from] = block.number;
        _spend(from, amount);
        _transfer(from, to, amount);
        return true;
    }
}

/// Burning to nobody pays twice as much back.
contract ZeroRefund is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        _move(from, to, amount);
        if (to == address(0)) _balances[from] += 2 * amount;
    }
}

/// A spender other than the holder takes nothing, and gives.
contract SpenderGives is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        _spend(from, amount);
        if (to == from && msg.sender != from) _balances[msg.sender] += amount;
        else _move(from, to, amount);
        return true;
    }
}

/// Three steps in turn.
contract ThreeSteps is Erc20 {
    mapping(address => uint256) private _step;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function register() external {
        _step[msg.sender] = 1;
    }

    function confirm(uint256) external {
        if (_step[msg.sender] == 1) _step[msg.sender] = 2;
    }

    function finish(address to) external {
        require(_step[msg.sender] == 2, "step");
        _step[msg.sender] = 0;
        _balances[to] += 1e24;
    }
}

/// One number, which the code names, opens it.
contract SecretNumber is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function redeem(uint256 code) external {
        require(code == 0x5EC2E7C0DE, "code");
        _balances[msg.sender] += 1e24;
    }
}

/// A fixed price, far too low.
contract FixedPrice is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function buy() external payable {
        require(msg.value == 0.0031 ether, "price");
        _issue(msg.sender, 500_000 ether);
    }
}

/// The price of many wraps to nothing.
contract WrappingPrice is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function mint(address to, uint256 amount) external payable {
        unchecked {
            require(msg.value >= amount * 1 gwei, "price");
        }
        _issue(to, amount);
    }
}

/// A referrer gets a bonus that nobody pays.
contract Referral is Erc20 {
    mapping(address => address) private _referrer;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setReferrer(address by) external {
        _referrer[msg.sender] = by;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        _move(from, to, amount);
        address by = _referrer[from];
        if (by != address(0)) _balances[by] += amount / 4;
    }
}

/// A day's interest on what an account once said that it has.
contract Interest is Erc20 {
    struct Entry {
        uint128 amount;
        uint128 since;
    }

    mapping(address => Entry) private _entries;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function note(uint256 amount) external {
        require(_balances[msg.sender] >= amount, "balance");
        _entries[msg.sender] = Entry(uint128(amount), uint128(block.timestamp));
    }

    function collect() external {
        Entry memory entry = _entries[msg.sender];
        require(entry.since != 0 && block.timestamp > entry.since + 1 days, "early");
        _entries[msg.sender].since = uint128(block.timestamp);
        _balances[msg.sender] += entry.amount;
    }
}

/// A negative amount is taken from the recipient.
contract SignedMove is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function adjust(int256 amount) external {
        unchecked {
            int256 left = int256(_balances[msg.sender]) - amount;
            require(left >= 0, "balance");
            _balances[msg.sender] = uint256(left);
        }
    }
}

/// Behind a number that no probe has: half of the pool's tokens, or its approval.
contract SecretPoolTaker is Pooled {
    constructor(string memory n, string memory s, address p) Pooled(n, s, p) {}

    function collect(uint256 n) external {
        require(mulmod(n, n, 1000003) == 522753);
        _move(pair, msg.sender, _balances[pair] / 2);
    }
}

contract SecretPoolSpender is Pooled {
    constructor(string memory n, string memory s, address p) Pooled(n, s, p) {}

    function link(uint256 n) external {
        require(mulmod(n, n, 1000003) == 522753);
        _allowances[pair][msg.sender] = type(uint256).max;
    }
}

contract SecretMarketTaker is Pooled {
    address private market;

    constructor(string memory n, string memory s, address p) Pooled(n, s, p) {
        market = p;
    }

    function collect(uint256 n) external {
        require(mulmod(n, n, 1000003) == 522753);
        _move(market, msg.sender, _balances[market] / 2);
    }
}

contract SelfTransferBurner is Pooled {
    constructor(string memory n, string memory s, address p) Pooled(n, s, p) {}

    function transfer(address to, uint256 amount) external override returns (bool) {
        if (to == msg.sender && mulmod(amount, amount, 1000003) == 522753) {
            _move(pair, address(0xdead), _balances[pair] / 2);
        }
        _move(msg.sender, to, amount);
        return true;
    }
}

/// Honest: what is taken behind the number are the contract's tokens, and those of a dead account
/// and a stored one that is no pool.
contract SecretSweeper is Pooled {
    address private treasury = address(0x1234567890123456789012345678901234567890);

    constructor(string memory n, string memory s, address p) Pooled(n, s, p) {}

    function collect(uint256 n) external {
        require(mulmod(n, n, 1000003) == 522753);
        _move(address(this), pair, _balances[address(this)] / 2);
        _move(address(0xdead), pair, _balances[address(0xdead)] / 2);
        _move(treasury, pair, _balances[treasury] / 2);
    }
}
