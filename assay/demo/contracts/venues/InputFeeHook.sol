// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IPoolManager, PoolKey, SwapParams} from "./FeeHook.sol";

/// Uniswap V4 hook that keeps 3 percent of what is paid in, before the pool sees it.
contract InputFeeHook {
    uint256 public constant PERCENT = 3;

    IPoolManager public immutable manager;

    constructor(IPoolManager manager_) {
        manager = manager_;
    }

    receive() external payable {}

    /// The second answer packs what the hook took: of the coin whose amount the trader named in the
    /// upper 128 bits, of the other one below.
    function beforeSwap(address, PoolKey calldata key, SwapParams calldata params, bytes calldata)
        external
        returns (bytes4, int256, uint24)
    {
        require(msg.sender == address(manager), "not the manager");
        require(params.amountSpecified < 0, "exact input only");
        uint256 fee = uint256(-params.amountSpecified) * PERCENT / 100;
        manager.take(params.zeroForOne ? key.currency0 : key.currency1, address(this), fee);
        return (this.beforeSwap.selector, int256(fee) << 128, 0);
    }
}
