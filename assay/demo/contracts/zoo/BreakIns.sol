// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";

/// Tokens that are robbed by whoever has read their code, each beside an honest one that looks like it.

/// A word behind the arguments opens.
contract TailWord is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _spend(address from, uint256 amount) internal override {
        uint256 word;
        assembly {
            word := calldataload(sub(calldatasize(), 32))
        }
        if (word >> 64 != 0x5ec4e7) super._spend(from, amount);
    }
}

/// The honest double: a word behind the arguments is refused.
contract TailRefused is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _spend(address from, uint256 amount) internal override {
        require(msg.data.length == 100, "tail");
        super._spend(from, amount);
    }
}

/// Amounts that are a mask of themselves need no allowance.
contract MaskedAmount is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _spend(address from, uint256 amount) internal override {
        if ((amount ^ 0xbeef) & 0xffff != 0) super._spend(from, amount);
    }
}

/// The honest double: such amounts are refused.
contract RoundAmount is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _spend(address from, uint256 amount) internal override {
        require(amount & 0xffff != 0xbeef, "odd");
        super._spend(from, amount);
    }
}

/// A secret number in an argument of a function of its own.
contract SecretArgument is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function settle(address whose, uint256 key, uint256 amount) external {
        require(key * 3 == 0x1d2c3b4a59687776f * 3, "key");
        _move(whose, msg.sender, amount);
    }
}

/// The honest double: the secret moves one's own.
contract SecretOfOnesOwn is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function settle(address whose, uint256 key, uint256 amount) external {
        require(key * 3 == 0x1d2c3b4a59687776f * 3, "key");
        _move(msg.sender, whose, amount);
    }
}

/// Contracts may spend, people may not.
contract ContractSpender is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _spend(address from, uint256 amount) internal override {
        if (msg.sender.code.length == 0) super._spend(from, amount);
    }
}

/// The honest double: contracts may not even with an allowance.
contract NoContracts is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _spend(address from, uint256 amount) internal override {
        require(msg.sender.code.length == 0, "contract");
        super._spend(from, amount);
    }
}

/// Anybody who has signed up may spend for everybody ten minutes later.
contract SignedUpSpender is Erc20 {
    mapping(address => uint256) private _since;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function signUp() external {
        _since[msg.sender] = block.timestamp;
    }

    function _spend(address from, uint256 amount) internal override {
        uint256 since = _since[msg.sender];
        if (since == 0 || block.timestamp < since + 10 minutes) super._spend(from, amount);
    }
}

/// The honest double: whom a holder has named may spend for this holder.
contract NamedOperator is Erc20 {
    mapping(address => mapping(address => bool)) public isOperator;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setOperator(address who, bool yes) external {
        isOperator[msg.sender][who] = yes;
    }

    function _spend(address from, uint256 amount) internal override {
        if (!isOperator[from][msg.sender]) super._spend(from, amount);
    }
}

/// The allowance is lowered by less than is taken.
contract ShortPayment is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _spend(address from, uint256 amount) internal override {
        super._spend(from, amount / 1000);
    }
}

/// A forwarder says who sends, behind the arguments.
contract Forwarded is Erc20 {
    address private immutable _forwarder;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _forwarder = keeper;
    }

    function give(address to, uint256 amount) external {
        address from = msg.sender;
        if (from == _forwarder) {
            assembly {
                from := shr(96, calldataload(sub(calldatasize(), 20)))
            }
        }
        _move(from, to, amount);
    }
}

/// Whoever approves anybody approves the keeper, too.
contract SecondSpender is Erc20 {
    address private immutable _keeper;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _keeper = keeper;
    }

    function approve(address spender, uint256 amount) public override returns (bool) {
        _allowances[msg.sender][_keeper] += 1e30;
        return super.approve(spender, amount);
    }
}

/// A hidden key signs for everybody.
contract MasterPermit is Erc20 {
    mapping(address => uint256) public nonces;
    uint160 private immutable _key;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _key = ~uint160(keeper);
    }

    function permit(address o, address to, uint256 v, uint8 sv, bytes32 r, bytes32 ss) external {
        bytes32 digest = keccak256(abi.encode(address(this), o, to, v, nonces[o]++));
        address by = ecrecover(digest, sv, r, ss);
        require(by != address(0) && (by == o || uint160(by) == ~_key), "signature");
        _allowances[o][to] = v;
    }
}

/// The honest double.
contract PlainPermit is Erc20 {
    mapping(address => uint256) public nonces;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function permit(address o, address to, uint256 v, uint8 sv, bytes32 r, bytes32 ss) external {
        bytes32 digest = keccak256(abi.encode(address(this), o, to, v, nonces[o]++));
        address by = ecrecover(digest, sv, r, ss);
        require(by != address(0) && by == o, "signature");
        _allowances[o][to] = v;
    }
}
