// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {PoolMaker} from "./CodeShelf.sol";

interface IPoolStart {
    function initialize(uint160 sqrtPriceX96) external;
}

/// A factory with Slipstream's interface: a pool is known by its tick spacing, and that decides the
/// fee. The pools are Uniswap's own, from the v3-core package. Source: slipstream, ICLFactory.
contract SlipstreamFactory is PoolMaker {
    mapping(int24 => uint24) public tickSpacingToFee;
    mapping(address => mapping(address => mapping(int24 => address))) public getPool;
    int24[] private spacings;

    event TickSpacingEnabled(int24 indexed tickSpacing, uint24 indexed fee);
    event PoolCreated(
        address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool
    );

    constructor(address shelf) PoolMaker(shelf) {
        enableTickSpacing(1, 100);
        enableTickSpacing(50, 500);
        enableTickSpacing(100, 500);
        enableTickSpacing(200, 3_000);
        enableTickSpacing(2_000, 10_000);
    }

    function enableTickSpacing(int24 tickSpacing, uint24 fee) public {
        tickSpacingToFee[tickSpacing] = fee;
        spacings.push(tickSpacing);
        emit TickSpacingEnabled(tickSpacing, fee);
    }

    function tickSpacings() external view returns (int24[] memory) {
        return spacings;
    }

    function createPool(address tokenA, address tokenB, int24 tickSpacing, uint160 sqrtPriceX96)
        external
        returns (address pool)
    {
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        uint24 fee = tickSpacingToFee[tickSpacing];
        require(token0 != address(0) && token0 != token1 && fee != 0, "no such pool");
        require(getPool[token0][token1][tickSpacing] == address(0), "pool exists");
        pool = _make(
            Parameters(address(this), token0, token1, fee, tickSpacing),
            keccak256(abi.encode(token0, token1, tickSpacing))
        );
        getPool[token0][token1][tickSpacing] = pool;
        getPool[token1][token0][tickSpacing] = pool;
        emit PoolCreated(token0, token1, tickSpacing, pool);
        if (sqrtPriceX96 != 0) IPoolStart(pool).initialize(sqrtPriceX96);
    }
}
