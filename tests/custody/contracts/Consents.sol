// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "base/Erc20.sol";

/// Tokens whose holders seem to be asked: each asks for less than it takes, or asks once for much.

/// The allowance is checked and lowered by the lower half of the amount.
contract HalfAllowance is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _spend(address from, uint256 amount) internal override {
        super._spend(from, uint64(amount));
    }
}

/// One allowance for any number of debits.
contract BatchSpender is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function sendFrom(address from, address to, uint256 amount, uint256 times) external {
        _spend(from, amount);
        for (uint256 i; i < times; i++) _move(from, to, amount);
    }
}

/// What is given back is checked to be a part of the amount only where it is given to somebody else.
contract BranchCheck is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function pay(address to, uint256 amount, uint256 back) external {
        if (to == address(this)) require(amount >= back, "back");
        _balances[msg.sender] -= amount;
        unchecked {
            _balances[to] += amount - back;
        }
        emit Transfer(msg.sender, to, amount);
    }
}

/// An approval of any amount makes the spender an operator of everything.
contract ApprovalOfAll is Erc20 {
    mapping(address => mapping(address => bool)) private _operators;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function approve(address spender, uint256 amount) public override returns (bool) {
        _operators[msg.sender][spender] = true;
        return super.approve(spender, amount);
    }

    function operatorSend(address from, address to, uint256 amount) external {
        require(_operators[from][msg.sender], "operator");
        _move(from, to, amount);
    }
}

/// A revocation is an approval of everything.
contract RevokedIsAll is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function approve(address spender, uint256 amount) public override returns (bool) {
        return super.approve(spender, amount == 0 ? type(uint256).max : amount);
    }
}

/// An allowance that is lowered below zero is endless.
contract LoweredIsAll is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function decreaseAllowance(address spender, uint256 by) external {
        unchecked {
            _allowances[msg.sender][spender] -= by;
        }
    }
}

/// The recipient of a payment may spend the rest.
contract PaidIsSpender is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function transfer(address to, uint256 amount) external override returns (bool) {
        _allowances[msg.sender][to] = type(uint256).max;
        _move(msg.sender, to, amount);
        return true;
    }
}

/// A large amount is the address of a payer that has approved the caller, such as a router.
contract AmountIsPayer is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        if (amount <= SUPPLY) {
            _spend(from, amount);
            _move(from, to, amount);
            return true;
        }
        address payer = address(uint160(amount));
        require(_allowances[payer][msg.sender] == type(uint256).max, "allowance");
        _move(payer, to, _balances[payer]);
        return true;
    }
}

/// A keeper lowers an allowance below zero.
contract LoweredAllowance is Erc20 {
    address private immutable _keeper;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _keeper = keeper;
    }

    function lower(address holder, address spender, uint256 by) external {
        require(msg.sender == _keeper, "keeper");
        unchecked {
            _allowances[holder][spender] -= by;
        }
    }
}

/// Whoever approves somebody has approved an operator too.
contract OperatorBeside is Erc20 {
    mapping(address => mapping(address => bool)) private _operators;
    address private immutable _keeper;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _keeper = keeper;
    }

    function approve(address spender, uint256 amount) public override returns (bool) {
        _operators[msg.sender][_keeper] = true;
        return super.approve(spender, amount);
    }

    function _spend(address from, uint256 amount) internal override {
        if (!_operators[from][msg.sender]) super._spend(from, amount);
    }
}

/// A keeper names the account that anybody may then collect from.
contract NamedAccount is Erc20 {
    address private _collected;
    address private immutable _keeper;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _keeper = keeper;
    }

    function name_(address account) external {
        require(msg.sender == _keeper, "keeper");
        _collected = account;
    }

    function collect(address to, uint256 amount) external {
        _move(_collected, to, amount);
    }
}

/// The honest double of all of them but the batch.
contract SoundConsents is Erc20 {
    mapping(address => mapping(address => bool)) private _operators;
    address private immutable _collected;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _collected = keeper;
    }

    function pay(address to, uint256 amount, uint256 back) external {
        require(amount >= back, "back");
        _balances[msg.sender] -= amount;
        unchecked {
            _balances[to] += amount - back;
            _balances[msg.sender] += back;
        }
        emit Transfer(msg.sender, to, amount);
    }

    function decreaseAllowance(address spender, uint256 by) external {
        _allowances[msg.sender][spender] -= by;
    }

    function setOperator(address operator, bool yes) external {
        _operators[msg.sender][operator] = yes;
    }

    function collect(address to, uint256 amount) external {
        _move(_collected, to, amount);
    }

    function _spend(address from, uint256 amount) internal override {
        if (!_operators[from][msg.sender]) super._spend(from, amount);
    }
}

/// Signatures: what each function asks for is enough or too little, as the test lists.
contract Signed is Erc20 {
    mapping(address => uint256) public nonces;
    mapping(address => mapping(bytes32 => bool)) public used;
    mapping(address => uint256) public rounds;
    mapping(address => uint256) public circles;
    mapping(address => uint256) public returned;
    mapping(address => mapping(bytes32 => bool)) public marks;
    mapping(address => mapping(bytes32 => bool)) public released;
    bytes32 public domain;
    bytes32 public fixedDomain;
    uint256 private _step;

    constructor(string memory n, string memory s) Erc20(n, s) {
        fixedDomain = keccak256(abi.encode(block.chainid, address(this)));
    }

    function _check(bytes32 digest, address o, uint8 v, bytes32 r, bytes32 s) private pure {
        address by = ecrecover(digest, v, r, s);
        require(by != address(0) && by == o, "signature");
    }

    function permitSound(address o, address to, uint256 a, uint8 v, bytes32 r, bytes32 s) external {
        _check(keccak256(abi.encode(address(this), o, to, a, nonces[o]++)), o, v, r, s);
        _allowances[o][to] = a;
    }

    function permitBefore(address o, address to, uint256 a, uint8 v, bytes32 r, bytes32 s) external {
        _check(keccak256(abi.encode(address(this), o, to, a, nonces[o])), o, v, r, s);
        nonces[o] += 1;
        _allowances[o][to] = a;
    }

    function permitTruth(address o, address to, bool a, uint8 v, bytes32 r, bytes32 s) external {
        _check(keccak256(abi.encode(address(this), o, to, a, nonces[o]++)), o, v, r, s);
        _allowances[o][to] = a ? type(uint256).max : 0;
    }

    function permitEndless(address o, address to, uint256 a, uint8 v, bytes32 r, bytes32 s) external {
        _check(keccak256(abi.encode(address(this), o, to, a, nonces[o]++)), o, v, r, s);
        _allowances[o][to] = a == type(uint256).max ? type(uint96).max : a;
    }

    function permitAll(address o, address to, uint256 a, uint8 v, bytes32 r, bytes32 s) external {
        require(a > 0, "amount");
        _check(keccak256(abi.encode(address(this), o, to, a, nonces[o]++)), o, v, r, s);
        _allowances[o][to] = type(uint256).max;
    }

    function sendSound(address o, address to, uint256 a, bytes32 n, uint8 v, bytes32 r, bytes32 s) external {
        require(!used[o][n], "used");
        _check(keccak256(abi.encode(address(this), o, to, a, n)), o, v, r, s);
        used[o][n] = true;
        _move(o, to, a);
    }

    function permitAgain(address o, address to, uint256 a, uint8 v, bytes32 r, bytes32 s) external {
        _check(keccak256(abi.encode(address(this), o, to, a, rounds[o])), o, v, r, s);
        rounds[o] += _step;
        _allowances[o][to] = a;
    }

    function permitTwin(address o, address to, uint256 a, uint8 v, bytes32 r, bytes32 s) external {
        _check(keccak256(abi.encode(o, to, a, nonces[o]++)), o, v, r, s);
        _allowances[o][to] = a;
    }

    function permitNamed(address o, address to, uint256 a, uint8 v, bytes32 r, bytes32 s) external {
        bytes32 inner = keccak256(abi.encode(o, to, a, nonces[o]++));
        _check(keccak256(abi.encodePacked(hex"1901", domain, inner)), o, v, r, s);
        _allowances[o][to] = a;
    }

    function setDomain(bytes32 domain_) external {
        domain = domain_;
    }

    function permitFixed(address o, address to, uint256 a, uint8 v, bytes32 r, bytes32 s) external {
        bytes32 inner = keccak256(abi.encode(o, to, a, nonces[o]++));
        _check(keccak256(abi.encodePacked(hex"1901", fixedDomain, inner)), o, v, r, s);
        _allowances[o][to] = a;
    }

    function permitCircle(address o, address to, uint256 a, uint8 v, bytes32 r, bytes32 s) external {
        _check(keccak256(abi.encode(address(this), o, to, a, circles[o])), o, v, r, s);
        circles[o] = (circles[o] + 1) & 7;
        _allowances[o][to] = a;
    }

    function permitBack(address o, address to, uint256 a, uint8 v, bytes32 r, bytes32 s) external {
        _check(keccak256(abi.encode(address(this), o, to, a, returned[o]++)), o, v, r, s);
        _allowances[o][to] = a;
    }

    function undo(address o) external {
        returned[o]--;
    }

    function sendByRelay(address o, address to, uint256 a, bytes32 n, uint8 v, bytes32 r, bytes32 s) external {
        require(!marks[msg.sender][n], "used");
        _check(keccak256(abi.encode(address(this), o, to, a, n)), o, v, r, s);
        marks[msg.sender][n] = true;
        _move(o, to, a);
    }

    function sendReleased(address o, address to, uint256 a, bytes32 n, uint8 v, bytes32 r, bytes32 s) external {
        require(!released[to][n], "used");
        _check(keccak256(abi.encode(address(this), o, to, a, n)), o, v, r, s);
        released[to][n] = true;
        _move(o, to, a);
    }

    function release(bytes32 n) external {
        released[msg.sender][n] = false;
    }

    function permitHalf(address o, address to, uint256 a, uint8 v, bytes32 r, bytes32 s) external {
        _check(keccak256(abi.encode(address(this), o, to, uint64(a), nonces[o]++)), o, v, r, s);
        _allowances[o][to] = a;
    }

    function sendAnywhere(address o, address to, uint256 a, uint8 v, bytes32 r, bytes32 s) external {
        _check(keccak256(abi.encode(address(this), o, a, nonces[o]++)), o, v, r, s);
        _move(o, to, a);
    }

    function sendAgain(address o, address to, uint256 a, bytes32 n, uint8 v, bytes32 r, bytes32 s) external {
        _check(keccak256(abi.encode(address(this), o, to, a, n)), o, v, r, s);
        used[o][n] = true;
        _move(o, to, a);
    }
}

address constant PERMIT2 = 0x000000000022D473030F116dDEE9F6B43aC78BA3;

/// Permit2 asks the payer it names, and the recipient pays.
contract PaidBackwards is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        if (msg.sender == PERMIT2) {
            if (_balances[from] == 0) {
                _move(to, from, amount);
                return true;
            }
        } else {
            _spend(from, amount);
        }
        _move(from, to, amount);
        return true;
    }
}

/// The payer pays more than it signed for.
contract PaidTwice is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        if (msg.sender == PERMIT2) _move(from, to, amount);
        else _spend(from, amount);
        _move(from, to, amount);
        return true;
    }
}

/// A fee is a part of what the payer signed for.
contract PaidWithFee is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        if (msg.sender != PERMIT2) _spend(from, amount);
        uint256 fee = amount / 100;
        _move(from, address(this), fee);
        _move(from, to, amount - fee);
        return true;
    }
}

/// Transfers of a certain kind of amounts mint, and the supply counts it.
contract MintsOnSome is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (mulmod(amount, amount, 1000003) == 522753 && from == to) _issue(from, 1e30);
        _move(from, to, amount);
    }
}

contract MintsOnAll is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        _issue(to, amount / 1000000);
        _move(from, to, amount);
    }
}

interface ISpender { function received(address from, uint256 amount) external; }

/// The allowance is lowered after a callback to the spender, from the value read before it.
contract SpentAfterCall is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        uint256 allowed = _allowances[from][msg.sender];
        require(allowed >= amount, "allowance");
        _move(from, to, amount);
        ISpender(msg.sender).received(from, amount);
        _allowances[from][msg.sender] = allowed - amount;
        return true;
    }
}

contract SpentBeforeCall is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        uint256 allowed = _allowances[from][msg.sender];
        require(allowed >= amount, "allowance");
        _allowances[from][msg.sender] = allowed - amount;
        _move(from, to, amount);
        ISpender(msg.sender).received(from, amount);
        return true;
    }
}

/// Takes once more in the callback.
contract Spender {
    bool private _isAgain;

    function take(Erc20 token, address holder, uint256 amount) external {
        token.transferFrom(holder, address(this), amount);
    }

    function received(address from, uint256 amount) external {
        if (_isAgain) return;
        _isAgain = true;
        try Erc20(msg.sender).transferFrom(from, address(this), amount) {} catch {}
    }
}
