// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

interface IPool {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function initialize(uint160 sqrtPriceX96) external;
    function mint(address owner, int24 lower, int24 upper, uint128 liquidity, bytes calldata data)
        external
        returns (uint256, uint256);
    function swap(address to, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data)
        external
        returns (int256 amount0, int256 amount1);
}

interface IErc20 {
    function transferFrom(address from, address to, uint256 amount) external;
}

/// Brings liquidity and swaps, in pools of the Uniswap V3 family whose own periphery no package has.
/// Pays what a pool's callback asks for from the caller's wallet; whoever calls must be the pool
/// that was called.
abstract contract ConcentratedRouter {
    address public immutable factory;
    address private pool;
    uint160 private constant LOWEST = 4295128739;
    uint160 private constant HIGHEST = 1461446703485210103287273052203988822378723970342;

    constructor(address factory_) {
        factory = factory_;
    }

    /// The pool of this pair and fee or tick spacing, whichever the family goes by. Zero: none yet.
    function find(address tokenA, address tokenB, int24 key) public view virtual returns (address);

    function _create(address tokenA, address tokenB, int24 key) internal virtual;

    /// Makes the pool unless it is there.
    function open(address tokenA, address tokenB, int24 key, uint160 sqrtPriceX96) external {
        if (find(tokenA, tokenB, key) != address(0)) return;
        _create(tokenA, tokenB, key);
        IPool(find(tokenA, tokenB, key)).initialize(sqrtPriceX96);
    }

    function mint(address tokenA, address tokenB, int24 key, int24 outermost, uint128 liquidity)
        external
    {
        mintBetween(tokenA, tokenB, key, -outermost, outermost, liquidity);
    }

    /// A position that belongs to another account than the one that pays.
    function mintTo(
        address owner,
        address tokenA,
        address tokenB,
        int24 key,
        int24 outermost,
        uint128 liquidity
    ) external {
        pool = find(tokenA, tokenB, key);
        IPool(pool).mint(owner, -outermost, outermost, liquidity, abi.encode(msg.sender));
        pool = address(0);
    }

    function mintBetween(
        address tokenA,
        address tokenB,
        int24 key,
        int24 lower,
        int24 upper,
        uint128 liquidity
    ) public {
        pool = find(tokenA, tokenB, key);
        IPool(pool).mint(msg.sender, lower, upper, liquidity, abi.encode(msg.sender));
        pool = address(0);
    }

    function _swap(
        address at,
        bool zeroForOne,
        address recipient,
        uint256 deadline,
        uint256 amountIn,
        uint256 amountOutMinimum,
        uint160 limit
    ) internal returns (uint256 amountOut) {
        require(at != address(0), "no such pool");
        require(block.timestamp <= deadline, "too late");
        if (limit == 0) limit = zeroForOne ? LOWEST + 1 : HIGHEST - 1;
        pool = at;
        (int256 amount0, int256 amount1) =
            IPool(at).swap(recipient, zeroForOne, int256(amountIn), limit, abi.encode(msg.sender));
        pool = address(0);
        amountOut = uint256(-(zeroForOne ? amount1 : amount0));
        require(amountOut >= amountOutMinimum, "too little received");
    }

    function _pay(int256 amount0, int256 amount1, bytes calldata data) internal {
        require(msg.sender == pool, "not the pool");
        address payer = abi.decode(data, (address));
        if (amount0 > 0) _pull(IPool(msg.sender).token0(), payer, uint256(amount0));
        if (amount1 > 0) _pull(IPool(msg.sender).token1(), payer, uint256(amount1));
    }

    /// Some tokens answer nothing; one that answers false has refused.
    function _pull(address token, address payer, uint256 amount) private {
        (bool ok, bytes memory said) =
            token.call(abi.encodeCall(IErc20.transferFrom, (payer, msg.sender, amount)));
        require(ok && (said.length == 0 || abi.decode(said, (bool))), "STF");
    }
}

interface IPancakeFactory {
    function createPool(address tokenA, address tokenB, uint24 fee) external returns (address);
    function getPool(address tokenA, address tokenB, uint24 fee) external view returns (address);
}

/// Source of the interface: PancakeSwap V3's SwapRouter.
contract PancakeRouter is ConcentratedRouter {
    struct Order {
        address tokenIn;
        address tokenOut;
        uint24 fee;
        address recipient;
        uint256 deadline;
        uint256 amountIn;
        uint256 amountOutMinimum;
        uint160 sqrtPriceLimitX96;
    }

    constructor(address factory) ConcentratedRouter(factory) {}

    function exactInputSingle(Order calldata order) external returns (uint256) {
        return _swap(
            find(order.tokenIn, order.tokenOut, int24(order.fee)),
            order.tokenIn < order.tokenOut,
            order.recipient,
            order.deadline,
            order.amountIn,
            order.amountOutMinimum,
            order.sqrtPriceLimitX96
        );
    }

    function find(address tokenA, address tokenB, int24 fee) public view override returns (address) {
        return IPancakeFactory(factory).getPool(tokenA, tokenB, uint24(fee));
    }

    function _create(address tokenA, address tokenB, int24 fee) internal override {
        IPancakeFactory(factory).createPool(tokenA, tokenB, uint24(fee));
    }

    function pancakeV3SwapCallback(int256 amount0, int256 amount1, bytes calldata data) external {
        _pay(amount0, amount1, data);
    }

    function pancakeV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata data) external {
        _pay(int256(amount0), int256(amount1), data);
    }
}

interface ISlipstreamFactory {
    function createPool(address tokenA, address tokenB, int24 spacing, uint160 sqrtPriceX96)
        external
        returns (address);
    function getPool(address tokenA, address tokenB, int24 spacing) external view returns (address);
}

/// Source of the interface: slipstream, ISwapRouter.
contract SlipstreamRouter is ConcentratedRouter {
    struct Order {
        address tokenIn;
        address tokenOut;
        int24 tickSpacing;
        address recipient;
        uint256 deadline;
        uint256 amountIn;
        uint256 amountOutMinimum;
        uint160 sqrtPriceLimitX96;
    }

    constructor(address factory) ConcentratedRouter(factory) {}

    function exactInputSingle(Order calldata order) external returns (uint256) {
        return _swap(
            find(order.tokenIn, order.tokenOut, order.tickSpacing),
            order.tokenIn < order.tokenOut,
            order.recipient,
            order.deadline,
            order.amountIn,
            order.amountOutMinimum,
            order.sqrtPriceLimitX96
        );
    }

    function find(address tokenA, address tokenB, int24 spacing)
        public
        view
        override
        returns (address)
    {
        return ISlipstreamFactory(factory).getPool(tokenA, tokenB, spacing);
    }

    function _create(address tokenA, address tokenB, int24 spacing) internal override {
        ISlipstreamFactory(factory).createPool(tokenA, tokenB, spacing, 0);
    }

    function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes calldata data) external {
        _pay(amount0, amount1, data);
    }

    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata data) external {
        _pay(int256(amount0), int256(amount1), data);
    }
}
