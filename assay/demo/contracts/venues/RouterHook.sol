// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IPoolManager, PoolKey, SwapParams} from "./FeeHook.sol";

/// Uniswap V4 hook that lets one router swap, as hooks do that want to know whom a swap is for.
contract RouterHook {
    IPoolManager public immutable manager;
    address public immutable router;

    constructor(IPoolManager manager_, address router_) {
        manager = manager_;
        router = router_;
    }

    function beforeSwap(address sender, PoolKey calldata, SwapParams calldata, bytes calldata)
        external
        view
        returns (bytes4, int256, uint24)
    {
        require(msg.sender == address(manager), "not the manager");
        require(sender == router, "unknown router");
        return (this.beforeSwap.selector, 0, 0);
    }
}
