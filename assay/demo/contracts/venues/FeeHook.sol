// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct SwapParams {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

interface IPoolManager {
    function take(address currency, address to, uint256 amount) external;
}

/// Uniswap V4 hook that keeps a share of what an exact-input swap pays out: 2 percent when the first
/// coin is paid in (a buy, in a pool against the native coin), 4 percent the other way.
contract FeeHook {
    uint256 public constant BUY_PERCENT = 2;
    uint256 public constant SELL_PERCENT = 4;

    IPoolManager public immutable manager;

    constructor(IPoolManager manager_) {
        manager = manager_;
    }

    receive() external payable {}

    /// `delta` packs what the trader gets: the first coin in the upper 128 bits, the second below.
    function afterSwap(
        address,
        PoolKey calldata key,
        SwapParams calldata params,
        int256 delta,
        bytes calldata
    ) external returns (bytes4, int128) {
        require(msg.sender == address(manager), "not the manager");
        require(params.amountSpecified < 0, "exact input only");
        int128 paidOut = params.zeroForOne ? int128(delta) : int128(delta >> 128);
        uint256 percent = params.zeroForOne ? BUY_PERCENT : SELL_PERCENT;
        uint256 fee = uint256(uint128(paidOut)) * percent / 100;
        manager.take(params.zeroForOne ? key.currency1 : key.currency0, address(this), fee);
        return (this.afterSwap.selector, int128(uint128(fee)));
    }
}
