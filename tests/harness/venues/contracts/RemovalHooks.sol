// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {V4Key} from "Stoppable.sol";
import {ITaking} from "TaxingHooks.sol";

struct Change {
    int24 lower;
    int24 upper;
    int256 liquidity;
    bytes32 salt;
}

/// Lets liquidity leave where `mayLeave` says so.
abstract contract RemovalHook {
    address public owner = msg.sender;

    function beforeRemoveLiquidity(address, V4Key calldata, Change calldata, bytes calldata)
        external
        view
        returns (bytes4)
    {
        require(mayLeave(), "no way out");
        return this.beforeRemoveLiquidity.selector;
    }

    function mayLeave() internal view virtual returns (bool);
}

/// Only its owner can take liquidity out.
contract OwnerExitHook is RemovalHook {
    function mayLeave() internal view override returns (bool) {
        return tx.origin == owner;
    }
}

/// Anybody can, for some hours.
contract ClosingExitHook is RemovalHook {
    uint256 immutable closes = block.timestamp + 12 hours;

    function mayLeave() internal view override returns (bool) {
        return block.timestamp < closes;
    }
}

/// Anybody can, for three hundred blocks, which no simulation skips.
contract CountingExitHook is RemovalHook {
    uint256 immutable closes = block.number + 300;

    function mayLeave() internal view override returns (bool) {
        return block.number < closes;
    }
}

/// The honest double: is asked, and says yes.
contract OpenExitHook is RemovalHook {
    function mayLeave() internal pure override returns (bool) {
        return true;
    }
}

/// Never refuses, and keeps 90 percent of both sides.
contract KeepingExitHook {
    ITaking public immutable manager;

    constructor(ITaking manager_) {
        manager = manager_;
    }

    receive() external payable {}

    function afterRemoveLiquidity(
        address,
        V4Key calldata key,
        Change calldata,
        int256 delta,
        int256,
        bytes calldata
    ) external returns (bytes4, int256) {
        uint256 first = uint256(uint128(int128(delta >> 128))) * 9 / 10;
        uint256 second = uint256(uint128(int128(delta))) * 9 / 10;
        if (first > 0) manager.take(key.currency0, address(this), first);
        if (second > 0) manager.take(key.currency1, address(this), second);
        return (this.afterRemoveLiquidity.selector, int256(first << 128 | second));
    }
}
