// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Deploys a Uniswap V4 hook at an address whose low 14 bits are the hook's permissions.
contract FlaggedDeployer {
    uint160 private constant MASK = (1 << 14) - 1;

    /// In the order deployed.
    address[] public hooks;

    function deploy(bytes calldata creation, uint160 flags) external {
        uint256 salt = _search(keccak256(creation), flags);
        bytes memory code = creation;
        address made;
        assembly ("memory-safe") {
            made := create2(0, add(code, 0x20), mload(code), salt)
        }
        require(made != address(0), "creation failed");
        hooks.push(made);
    }

    /// The first salt that leads to such an address. About 16,000 tries, so every gas counts.
    function _search(bytes32 codeHash, uint160 flags) private view returns (uint256 salt) {
        assembly ("memory-safe") {
            let start := mload(0x40)
            mstore8(start, 0xff)
            mstore(add(start, 0x01), shl(96, address()))
            mstore(add(start, 0x35), codeHash)
            let place := add(start, 0x15)
            mstore(place, 0)
            for {} xor(and(keccak256(start, 0x55), MASK), flags) { mstore(place, salt) } {
                salt := add(salt, 1)
            }
        }
    }
}
