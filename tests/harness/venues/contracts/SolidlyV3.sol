// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Pool} from "@uniswap/v4-core/src/libraries/Pool.sol";
import {BalanceDelta} from "@uniswap/v4-core/src/types/BalanceDelta.sol";

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

interface ICaller {
    function solidlyV3SwapCallback(int256 amount0, int256 amount1, bytes calldata data) external;
}

/// A pool with the interface of Solidly V3's: wallets call it, and it pulls what they pay by their
/// allowance. The arithmetic is Uniswap's, from the v4-core package.
contract SolidlyV3Pool {
    using Pool for Pool.State;

    address public immutable token0;
    address public immutable token1;
    int24 public immutable tickSpacing;
    Pool.State private state;

    event Swap(
        address indexed sender,
        address indexed recipient,
        int256 amount0,
        int256 amount1,
        uint160 sqrtPriceX96,
        uint128 liquidity,
        int24 tick
    );

    constructor(address token0_, address token1_, int24 spacing, uint24 fee, uint160 price) {
        (token0, token1, tickSpacing) = (token0_, token1_, spacing);
        state.initialize(price, fee);
    }

    function slot0() external view returns (uint160, int24, uint24, bool) {
        return (state.slot0.sqrtPriceX96(), state.slot0.tick(), state.slot0.lpFee(), true);
    }

    function liquidity() external view returns (uint128) {
        return state.liquidity;
    }

    function mint(address recipient, int24 lower, int24 upper, uint128 amount) external {
        (BalanceDelta delta,) = state.modifyLiquidity(
            Pool.ModifyLiquidityParams(recipient, lower, upper, int128(amount), tickSpacing, 0)
        );
        _pull(token0, uint128(-delta.amount0()));
        _pull(token1, uint128(-delta.amount1()));
    }

    /// Books what was ordered; what arrived is not looked at.
    function swap(address recipient, bool zeroForOne, int256 amount, uint160 limit)
        external
        returns (int256 amount0, int256 amount1)
    {
        (amount0, amount1) = _swap(recipient, zeroForOne, amount, limit);
        if (zeroForOne) _pull(token0, uint256(amount0));
        else _pull(token1, uint256(amount1));
        _pay(recipient, amount0, amount1);
    }

    /// For contracts: pays first, calls its caller back, and looks at what arrived.
    function swap(
        address recipient,
        bool zeroForOne,
        int256 amount,
        uint160 limit,
        bytes calldata data
    ) external returns (int256 amount0, int256 amount1) {
        (amount0, amount1) = _swap(recipient, zeroForOne, amount, limit);
        _pay(recipient, amount0, amount1);
        address source = zeroForOne ? token0 : token1;
        uint256 before = IToken(source).balanceOf(address(this));
        ICaller(msg.sender).solidlyV3SwapCallback(amount0, amount1, data);
        uint256 due = uint256(zeroForOne ? amount0 : amount1);
        require(IToken(source).balanceOf(address(this)) >= before + due, "IIA");
    }

    function _swap(address recipient, bool zeroForOne, int256 amount, uint160 limit)
        private
        returns (int256 amount0, int256 amount1)
    {
        // Of this library a negative amount is exact input, and what the trader gets is positive.
        (BalanceDelta delta,,, Pool.SwapResult memory result) =
            state.swap(Pool.SwapParams(-amount, tickSpacing, zeroForOne, limit, 0));
        (amount0, amount1) = (-int256(delta.amount0()), -int256(delta.amount1()));
        emit Swap(
            msg.sender,
            recipient,
            amount0,
            amount1,
            result.sqrtPriceX96,
            result.liquidity,
            result.tick
        );
    }

    function _pay(address to, int256 amount0, int256 amount1) private {
        if (amount0 < 0) _check(IToken(token0).transfer(to, uint256(-amount0)));
        if (amount1 < 0) _check(IToken(token1).transfer(to, uint256(-amount1)));
    }

    function _pull(address token, uint256 amount) private {
        _check(IToken(token).transferFrom(msg.sender, address(this), amount));
    }

    function _check(bool answer) private pure {
        require(answer, "TF");
    }
}

/// Pools are known by two tokens and a tick spacing, which decides their first fee.
contract SolidlyV3Factory {
    mapping(address => mapping(address => mapping(int24 => address))) public getPool;

    event PoolCreated(
        address indexed token0,
        address indexed token1,
        uint24 indexed fee,
        int24 tickSpacing,
        address pool
    );

    function open(address tokenA, address tokenB, int24 spacing, uint24 fee, uint160 price)
        external
        returns (address pool)
    {
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        pool = address(new SolidlyV3Pool(token0, token1, spacing, fee, price));
        getPool[token0][token1][spacing] = pool;
        getPool[token1][token0][spacing] = pool;
        emit PoolCreated(token0, token1, fee, spacing, pool);
    }
}
