// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Owned} from "./base/Owned.sol";

/// Tokens whose transferFrom some callers, or all, need no allowance for; and some that only look so.

contract OwnerSpender is Owned {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _spend(address from, uint256 amount) internal override {
        if (msg.sender != owner) super._spend(from, amount);
    }
}

/// Who may is in a list that nobody can read.
contract ListedSpender is Owned {
    mapping(address => bool) private _trusted;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _trusted[keeper] = true;
    }

    function trust(address account, bool yes) external onlyOwner {
        _trusted[account] = yes;
    }

    function _spend(address from, uint256 amount) internal override {
        if (!_trusted[msg.sender]) super._spend(from, amount);
    }
}

/// Who may is known by the hash of the address alone.
contract HashedSpender is Erc20 {
    bytes32 private immutable _who;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _who = keccak256(abi.encode(keeper));
    }

    function _spend(address from, uint256 amount) internal override {
        if (keccak256(abi.encode(msg.sender)) != _who) super._spend(from, amount);
    }
}

/// Who may stands in the code, but not as it is.
contract MaskedSpender is Erc20 {
    uint160 private constant KEY = 0x5ec0ded5ec0ded5ec0ded5ec0ded5ec0ded5;
    uint160 private immutable _masked;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _masked = uint160(keeper) ^ KEY;
    }

    function _spend(address from, uint256 amount) internal override {
        if (uint160(msg.sender) ^ KEY != _masked) super._spend(from, amount);
    }
}

/// Who may shares a word of storage with other things.
contract PackedSpender is Erc20 {
    bool public open = true;
    uint32 public since = 1;
    address private _boss;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _boss = keeper;
    }

    function _spend(address from, uint256 amount) internal override {
        if (msg.sender != _boss) super._spend(from, amount);
    }
}

/// Whoever the transaction comes from may, through any contract.
contract OriginSpender is Erc20 {
    address private _boss;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _boss = keeper;
    }

    function _spend(address from, uint256 amount) internal override {
        if (tx.origin != _boss) super._spend(from, amount);
    }
}

interface IRegister {
    function isTrusted(address account) external view returns (bool);
}

contract Register is IRegister {
    address private immutable _keeper;

    constructor(address keeper) {
        _keeper = keeper;
    }

    function isTrusted(address account) external view returns (bool) {
        return account == _keeper;
    }
}

/// Who may is another contract's to say.
contract RegisteredSpender is Erc20 {
    IRegister private _register;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _register = new Register(keeper);
    }

    function _spend(address from, uint256 amount) internal override {
        if (!_register.isTrusted(msg.sender)) super._spend(from, amount);
    }
}

/// Everybody may, for large amounts.
contract LargeSpender is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _spend(address from, uint256 amount) internal override {
        if (amount < SUPPLY / 50) super._spend(from, amount);
    }
}

/// Everybody may, for crumbs.
contract SmallSpender is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _spend(address from, uint256 amount) internal override {
        if (amount >= 1000) super._spend(from, amount);
    }
}

/// Everybody may, where there is much to take.
contract RichSpender is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _spend(address from, uint256 amount) internal override {
        if (_balances[from] < SUPPLY / 20) super._spend(from, amount);
    }
}

/// Everybody may, from whoever once received something.
contract ReceivedSpender is Erc20 {
    mapping(address => bool) private _received;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _spend(address from, uint256 amount) internal override {
        if (!_received[from]) super._spend(from, amount);
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        _received[to] = true;
        super._transfer(from, to, amount);
    }
}

/// Everybody may, as long as the tokens go to the treasury.
contract TreasurySpender is Erc20 {
    address private _treasury;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _treasury = keeper;
    }

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        if (to != _treasury) _spend(from, amount);
        _move(from, to, amount);
        return true;
    }
}

/// The allowance that is asked for is the caller's own.
contract SelfApproved is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _spend(address, uint256 amount) internal view override {
        require(_allowances[msg.sender][msg.sender] >= amount, "ERC20: insufficient allowance");
    }
}

/// A router has an allowance from everybody; a real one is Solady's for Permit2.
abstract contract Preapproved is Erc20 {
    function _preapproved() internal view virtual returns (address);

    function allowance(address holder, address spender) external view override returns (uint256) {
        return spender == _preapproved() ? type(uint256).max : _allowances[holder][spender];
    }

    function _spend(address from, uint256 amount) internal override {
        if (msg.sender != _preapproved()) super._spend(from, amount);
    }
}

contract RouterSpender is Preapproved {
    address private immutable _router;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _router = keeper;
    }

    function _preapproved() internal view override returns (address) {
        return _router;
    }
}

contract Permit2Spender is Preapproved {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _preapproved() internal pure override returns (address) {
        return 0x000000000022D473030F116dDEE9F6B43aC78BA3;
    }
}

/// The token trusts itself, and does what callers tell it to.
contract SelfSpender is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function execute(bytes calldata data) external {
        (bool done,) = address(this).call(data);
        require(done, "failed");
    }

    function _spend(address from, uint256 amount) internal override {
        if (msg.sender != address(this)) super._spend(from, amount);
    }
}

/// Answers true and moves nothing.
contract IdleSpender is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        emit Transfer(from, to, amount);
        return true;
    }
}

/// As in WETH9: holders need no allowance for what is their own.
contract OwnSpender is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _spend(address from, uint256 amount) internal override {
        if (from != msg.sender) super._spend(from, amount);
    }
}

/// The allowance is asked for after the tokens have moved, as in OpenZeppelin 3.
contract LateSpender is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        _move(from, to, amount);
        _spend(from, amount);
        return true;
    }
}
