// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Deploys a Uniswap V4 hook at an address whose low 14 bits are the hook's permissions.
contract FlaggedDeployer {
    uint160 private constant MASK = (1 << 14) - 1;

    /// In the order deployed.
    address[] public hooks;

    function deploy(bytes calldata creation, uint160 flags) external {
        bytes32 codeHash = keccak256(creation);
        uint256 salt;
        while (uint160(_at(salt, codeHash)) & MASK != flags) ++salt;
        bytes memory code = creation;
        address made;
        assembly ("memory-safe") {
            made := create2(0, add(code, 0x20), mload(code), salt)
        }
        require(made != address(0), "creation failed");
        hooks.push(made);
    }

    function _at(uint256 salt, bytes32 codeHash) private view returns (address at) {
        assembly ("memory-safe") {
            let start := mload(0x40)
            mstore8(start, 0xff)
            mstore(add(start, 0x01), shl(96, address()))
            mstore(add(start, 0x15), salt)
            mstore(add(start, 0x35), codeHash)
            at := and(keccak256(start, 0x55), 0xffffffffffffffffffffffffffffffffffffffff)
        }
    }
}
