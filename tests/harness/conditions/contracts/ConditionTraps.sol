// SPDX-License-Identifier: Apache-2.0
// Tokens whose trades hang on something, each with its honest double.
pragma solidity ^0.8.24;

import {Erc20} from "zoo/base/Erc20.sol";
import {Owned} from "zoo/base/Owned.sol";
import {Traded} from "zoo/base/Traded.sol";

/// Honest: an account with more than some ethers sells in every pool, as everybody else.
contract PurseReaderToken is Traded {
    uint256 public rich;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (from.balance > 4.5 ether) rich = amount;
        _move(from, to, amount);
    }
}

/// An account with more than some ethers sells in the pool that the token knows, and in no other.
contract SecondPoolToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to != pair && to.code.length > 0) {
            require(from.balance <= 4.5 ether || _isOwner(from, to), "in the other pool");
        }
        _move(from, to, amount);
    }
}

/// Honest: what it calls was never set, and cannot be.
contract NeverSetToken is Owned {
    address public wallet;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        (bool sent,) = wallet.call("");
        require(sent, "wallet");
        _move(from, to, amount);
    }
}

/// The same, and the owner sets it after the launch.
contract SetLaterToken is Owned {
    address public wallet;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setWallet(address wallet_) external onlyOwner {
        wallet = wallet_;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        (bool sent,) = wallet.call("");
        require(sent, "wallet");
        _move(from, to, amount);
    }
}

/// The same, and anybody sets it.
contract SetByAnybodyToken is Owned {
    address public wallet;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setWallet(address wallet_) external {
        wallet = wallet_;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        (bool sent,) = wallet.call("");
        require(sent, "wallet");
        _move(from, to, amount);
    }
}

/// Refuses every call.
contract Refuser {
    fallback() external payable {
        revert("no");
    }
}

/// Honest: roles with members counted from one, as in enumerable sets, gate the pause.
contract RolePauseToken is Owned {
    mapping(bytes32 => mapping(address => uint256)) private _index;
    bool public paused;

    constructor(string memory n, string memory s) Erc20(n, s) {
        _index["PAUSER"][msg.sender] = 1;
    }

    function grant(bytes32 role, address account) external onlyOwner {
        _index[role][account] = 1;
    }

    function setPaused(bool paused_) external {
        require(0 != _index["PAUSER"][msg.sender], "role");
        paused = paused_;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(!paused, "paused");
        _move(from, to, amount);
    }
}

/// A proxy whose admin administers it, and anybody else gets through to the code behind it.
contract AdministeredProxy {
    bytes32 private constant CODE = bytes32(uint256(keccak256("eip1967.proxy.implementation")) - 1);
    bytes32 internal constant ADMIN = bytes32(uint256(keccak256("eip1967.proxy.admin")) - 1);

    constructor(address code) {
        _set(CODE, code);
        _set(ADMIN, msg.sender);
    }

    function changeAdmin(address admin) external virtual {
        if (msg.sender == _get(ADMIN)) _set(ADMIN, admin);
        else _pass();
    }

    function _get(bytes32 slot) internal view returns (address found) {
        assembly { found := sload(slot) }
    }

    function _set(bytes32 slot, address value) internal {
        assembly { sstore(slot, value) }
    }

    function _pass() internal {
        require(msg.sender != _get(ADMIN), "the admin administers");
        address code = _get(CODE);
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), code, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }

    fallback() external payable {
        _pass();
    }
}

/// The same, and anybody names the next admin: a router that is admin sells nothing any more.
contract OpenProxy is AdministeredProxy {
    constructor(address code) AdministeredProxy(code) {}

    function changeAdmin(address admin) external override {
        if (admin != address(0)) _set(ADMIN, admin);
        else _pass();
    }
}
