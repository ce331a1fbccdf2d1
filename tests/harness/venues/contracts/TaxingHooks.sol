// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Swap, V4Key} from "Stoppable.sol";

interface ITaking {
    function take(address currency, address to, uint256 amount) external;
}

/// A hook that keeps a share of what an exact-input swap against the native coin pays out.
abstract contract TakingHook {
    ITaking public immutable manager;

    constructor(ITaking manager_) {
        manager = manager_;
    }

    receive() external payable {}

    function afterSwap(address, V4Key calldata key, Swap calldata swap, int256 delta, bytes calldata)
        external
        returns (bytes4, int128)
    {
        int128 coins = int128(delta >> 128);
        int128 paidOut = swap.zeroForOne ? int128(delta) : coins;
        uint256 traded = uint256(uint128(coins < 0 ? -coins : coins));
        uint256 fee = uint256(uint128(paidOut)) * percent(swap.zeroForOne, traded) / 100;
        if (fee > 0) manager.take(swap.zeroForOne ? key.currency1 : key.currency0, address(this), fee);
        return (this.afterSwap.selector, int128(uint128(fee)));
    }

    function percent(bool isBuy, uint256 coins) internal virtual returns (uint256);
}

/// Takes 30 percent of trades of more than 1.3 coins, else 1.
contract SizeHook is TakingHook {
    constructor(ITaking manager_) TakingHook(manager_) {}

    function percent(bool, uint256 coins) internal pure override returns (uint256) {
        return coins > 1.3 ether ? 30 : 1;
    }
}

/// Takes 40 percent once half an hour has passed.
contract LaterHook is TakingHook {
    uint256 immutable from = block.timestamp + 30 minutes;

    constructor(ITaking manager_) TakingHook(manager_) {}

    function percent(bool, uint256) internal view override returns (uint256) {
        return block.timestamp < from ? 0 : 40;
    }
}

/// Takes 35 percent from the hundredth block on.
contract BlocksHook is TakingHook {
    uint256 immutable from = block.number + 100;

    constructor(ITaking manager_) TakingHook(manager_) {}

    function percent(bool, uint256) internal view override returns (uint256) {
        return block.number < from ? 0 : 35;
    }
}

/// Takes 35 percent from the three hundredth block on, which no simulation gets to.
contract FarBlocksHook is TakingHook {
    uint256 immutable from = block.number + 300;

    constructor(ITaking manager_) TakingHook(manager_) {}

    function percent(bool, uint256) internal view override returns (uint256) {
        return block.number < from ? 0 : 35;
    }
}

/// Takes 25 percent of sales only.
contract SellHook is TakingHook {
    constructor(ITaking manager_) TakingHook(manager_) {}

    function percent(bool isBuy, uint256) internal pure override returns (uint256) {
        return isBuy ? 0 : 25;
    }
}

/// Takes 20 percent of the first trade of whoever never traded.
contract NewcomerHook is TakingHook {
    mapping(address => bool) hasTraded;

    constructor(ITaking manager_) TakingHook(manager_) {}

    function percent(bool, uint256) internal override returns (uint256) {
        if (hasTraded[tx.origin]) return 0;
        hasTraded[tx.origin] = true;
        return 20;
    }
}

/// The honest double: 2 percent of everybody, always.
contract EvenHook is TakingHook {
    constructor(ITaking manager_) TakingHook(manager_) {}

    function percent(bool, uint256) internal pure override returns (uint256) {
        return 2;
    }
}

/// Sets the pool's own fee: 30 percent of trades of more than 1.3 coins, else 1. A fee of the
/// pool is no tax by the rules of the product, and is still what traders pay.
contract SizedFeeHook {
    function beforeSwap(address, V4Key calldata, Swap calldata swap, bytes calldata)
        external
        pure
        returns (bytes4, int256, uint24)
    {
        uint256 paid = uint256(-swap.amountSpecified);
        uint24 fee = swap.zeroForOne && paid > 1.3 ether ? 300_000 : 10_000;
        return (SizedFeeHook.beforeSwap.selector, 0, fee | 0x400000);
    }
}
