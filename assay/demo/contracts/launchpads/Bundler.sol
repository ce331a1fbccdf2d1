// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Carries out what other accounts want and tells so as the EntryPoint of ERC-4337 does: who sends
/// the transaction is not who wanted it.
contract Bundler {
    event UserOperationEvent(
        bytes32 indexed userOpHash,
        address indexed sender,
        address indexed paymaster,
        uint256 nonce,
        bool success,
        uint256 actualGasCost,
        uint256 actualGasUsed
    );

    function carryOut(address wanting, address target, bytes calldata data) external payable {
        (bool ok,) = target.call{value: msg.value}(data);
        require(ok, "refused");
        emit UserOperationEvent(keccak256(data), wanting, address(0), 0, ok, 0, 0);
    }
}
