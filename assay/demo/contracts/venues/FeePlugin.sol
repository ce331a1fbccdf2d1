// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

interface IAlgebraPool {
    function setPluginConfig(uint8 config) external;
}

/// Algebra Integral plugin that sets the fee of every swap, and keeps a part for itself on top.
/// Source: integral-core, IAlgebraPlugin, Plugins.
contract FeePlugin {
    uint8 private constant BEFORE_SWAP = 1;
    uint8 private constant DYNAMIC_FEE = 1 << 7;
    /// Hundredths of a basis point.
    uint24 public constant FEE = 20_000;
    uint24 public constant OWN_FEE = 10_000;

    function defaultPluginConfig() external pure returns (uint8) {
        return BEFORE_SWAP | DYNAMIC_FEE;
    }

    function beforeInitialize(address, uint160) external returns (bytes4) {
        IAlgebraPool(msg.sender).setPluginConfig(BEFORE_SWAP | DYNAMIC_FEE);
        return this.beforeInitialize.selector;
    }

    function beforeSwap(address, address, bool, int256, uint160, bool, bytes calldata)
        external
        pure
        returns (bytes4, uint24, uint24)
    {
        return (this.beforeSwap.selector, FEE, OWN_FEE);
    }

    function handlePluginFee(uint256, uint256) external pure returns (bytes4) {
        return this.handlePluginFee.selector;
    }
}

contract FeePluginFactory {
    function beforeCreatePoolHook(address, address, address, address, address, bytes calldata)
        external
        returns (address)
    {
        return address(new FeePlugin());
    }

    function afterCreatePoolHook(address, address, address) external {}
}
