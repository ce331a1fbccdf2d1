// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Stands at a platform's address where its real contract is out of reach: answers each call with
/// what was recorded for exactly these bytes, every other one as it was told to, and sends the
/// events it is given.
contract Recorder {
    mapping(bytes32 => bytes) private _answers;
    bytes private _unknown;
    bool private _reverts;

    function record(bytes calldata question, bytes calldata answer) external {
        _answers[keccak256(question)] = answer;
    }

    function recordUnknown(bytes calldata answer, bool reverts) external {
        (_unknown, _reverts) = (answer, reverts);
    }

    function announce(bytes32[] calldata topics, bytes calldata data) external {
        bytes memory copy = data;
        uint256 count = topics.length;
        bytes32[4] memory all;
        for (uint256 at; at < count; ++at) all[at] = topics[at];
        (bytes32 a, bytes32 b, bytes32 c, bytes32 d) = (all[0], all[1], all[2], all[3]);
        assembly {
            let start := add(copy, 32)
            let size := mload(copy)
            switch count
            case 1 { log1(start, size, a) }
            case 2 { log2(start, size, a, b) }
            case 3 { log3(start, size, a, b, c) }
            default { log4(start, size, a, b, c, d) }
        }
    }

    fallback(bytes calldata question) external returns (bytes memory) {
        bytes memory answer = _answers[keccak256(question)];
        if (answer.length != 0) return answer;
        require(!_reverts, "unknown");
        return _unknown;
    }
}
