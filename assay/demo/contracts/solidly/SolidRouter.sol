// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

interface ISolidFactory {
    function getPair(address tokenA, address tokenB, bool stable) external view returns (address);
    function createPair(address tokenA, address tokenB, bool stable) external returns (address);
    function isPair(address pair) external view returns (bool);
}

interface ISolidPair {
    function token0() external view returns (address);
    function getReserves() external view returns (uint256, uint256, uint256);
    function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256);
    function mint(address to) external returns (uint256);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
}

interface IWrapped {
    function balanceOf(address account) external view returns (uint256);
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

/// Router with the interface of the Solidly and Velodrome v1 family.
contract SolidRouter {
    struct route {
        address from;
        address to;
        bool stable;
    }

    address public immutable factory;
    address public immutable weth;

    modifier ensure(uint256 deadline) {
        require(deadline >= block.timestamp, "EXPIRED");
        _;
    }

    constructor(address factory_, address weth_) {
        factory = factory_;
        weth = weth_;
    }

    receive() external payable {
        require(msg.sender == weth, "only from the wrapper");
    }

    function sortTokens(address tokenA, address tokenB) public pure returns (address, address) {
        require(tokenA != tokenB, "IDENTICAL_ADDRESSES");
        return tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
    }

    function pairFor(address tokenA, address tokenB, bool stable) public view returns (address) {
        return ISolidFactory(factory).getPair(tokenA, tokenB, stable);
    }

    function isPair(address pair) external view returns (bool) {
        return ISolidFactory(factory).isPair(pair);
    }

    function getReserves(address tokenA, address tokenB, bool stable)
        external
        view
        returns (uint256 reserveA, uint256 reserveB)
    {
        (address token0,) = sortTokens(tokenA, tokenB);
        (uint256 reserve0, uint256 reserve1,) = ISolidPair(pairFor(tokenA, tokenB, stable)).getReserves();
        return tokenA == token0 ? (reserve0, reserve1) : (reserve1, reserve0);
    }

    /// The better of the volatile and the stable pair.
    function getAmountOut(uint256 amountIn, address tokenIn, address tokenOut)
        external
        view
        returns (uint256 amount, bool stable)
    {
        uint256 volatileOut = _quote(amountIn, route(tokenIn, tokenOut, false));
        uint256 stableOut = _quote(amountIn, route(tokenIn, tokenOut, true));
        return stableOut > volatileOut ? (stableOut, true) : (volatileOut, false);
    }

    function getAmountsOut(uint256 amountIn, route[] memory routes)
        public
        view
        returns (uint256[] memory amounts)
    {
        require(routes.length >= 1, "INVALID_PATH");
        amounts = new uint256[](routes.length + 1);
        amounts[0] = amountIn;
        for (uint256 i; i < routes.length; ++i) amounts[i + 1] = _quote(amounts[i], routes[i]);
    }

    function addLiquidity(
        address tokenA,
        address tokenB,
        bool stable,
        uint256 amountA,
        uint256 amountB,
        uint256 amountAMin,
        uint256 amountBMin,
        address to,
        uint256 deadline
    ) external ensure(deadline) returns (uint256, uint256, uint256 liquidity) {
        require(amountA >= amountAMin && amountB >= amountBMin, "INSUFFICIENT_AMOUNT");
        address pair = _pairOrNew(tokenA, tokenB, stable);
        _pull(tokenA, msg.sender, pair, amountA);
        _pull(tokenB, msg.sender, pair, amountB);
        liquidity = ISolidPair(pair).mint(to);
        return (amountA, amountB, liquidity);
    }

    function addLiquidityETH(
        address token,
        bool stable,
        uint256 amountToken,
        uint256 amountTokenMin,
        uint256 amountETHMin,
        address to,
        uint256 deadline
    ) external payable ensure(deadline) returns (uint256, uint256, uint256 liquidity) {
        require(amountToken >= amountTokenMin && msg.value >= amountETHMin, "INSUFFICIENT_AMOUNT");
        address pair = _pairOrNew(token, weth, stable);
        _pull(token, msg.sender, pair, amountToken);
        IWrapped(weth).deposit{value: msg.value}();
        _push(weth, pair, msg.value);
        liquidity = ISolidPair(pair).mint(to);
        return (amountToken, msg.value, liquidity);
    }

    function swapExactTokensForTokens(
        uint256 amountIn,
        uint256 amountOutMin,
        route[] calldata routes,
        address to,
        uint256 deadline
    ) external ensure(deadline) returns (uint256[] memory amounts) {
        amounts = _quoted(amountIn, amountOutMin, routes);
        _pull(routes[0].from, msg.sender, _pairOf(routes[0]), amountIn);
        _swapQuoted(amounts, routes, to);
    }

    function swapExactETHForTokens(
        uint256 amountOutMin,
        route[] calldata routes,
        address to,
        uint256 deadline
    ) external payable ensure(deadline) returns (uint256[] memory amounts) {
        amounts = _quoted(msg.value, amountOutMin, routes);
        _wrapInto(routes);
        _swapQuoted(amounts, routes, to);
    }

    function swapExactTokensForETH(
        uint256 amountIn,
        uint256 amountOutMin,
        route[] calldata routes,
        address to,
        uint256 deadline
    ) external ensure(deadline) returns (uint256[] memory amounts) {
        amounts = _quoted(amountIn, amountOutMin, routes);
        _pull(routes[0].from, msg.sender, _pairOf(routes[0]), amountIn);
        _swapQuoted(amounts, routes, address(this));
        _unwrapTo(routes, amounts[amounts.length - 1], to);
    }

    function swapExactTokensForTokensSupportingFeeOnTransferTokens(
        uint256 amountIn,
        uint256 amountOutMin,
        route[] calldata routes,
        address to,
        uint256 deadline
    ) external ensure(deadline) {
        _pull(routes[0].from, msg.sender, _pairOf(routes[0]), amountIn);
        _swapMeasured(routes, to, amountOutMin);
    }

    function swapExactETHForTokensSupportingFeeOnTransferTokens(
        uint256 amountOutMin,
        route[] calldata routes,
        address to,
        uint256 deadline
    ) external payable ensure(deadline) {
        _wrapInto(routes);
        _swapMeasured(routes, to, amountOutMin);
    }

    function swapExactTokensForETHSupportingFeeOnTransferTokens(
        uint256 amountIn,
        uint256 amountOutMin,
        route[] calldata routes,
        address to,
        uint256 deadline
    ) external ensure(deadline) {
        _pull(routes[0].from, msg.sender, _pairOf(routes[0]), amountIn);
        _unwrapTo(routes, _swapMeasured(routes, address(this), amountOutMin), to);
    }

    function _quoted(uint256 amountIn, uint256 amountOutMin, route[] calldata routes)
        private
        view
        returns (uint256[] memory amounts)
    {
        amounts = getAmountsOut(amountIn, routes);
        require(amounts[amounts.length - 1] >= amountOutMin, "INSUFFICIENT_OUTPUT_AMOUNT");
    }

    function _swapQuoted(uint256[] memory amounts, route[] calldata routes, address to) private {
        for (uint256 i; i < routes.length; ++i) _swapOne(routes, i, amounts[i + 1], to);
    }

    /// Swaps what really arrived at each pair, for tokens that keep a share of each transfer.
    function _swapMeasured(route[] calldata routes, address to, uint256 amountOutMin)
        private
        returns (uint256 arrived)
    {
        address last = routes[routes.length - 1].to;
        uint256 before = IWrapped(last).balanceOf(to);
        for (uint256 i; i < routes.length; ++i) _swapOne(routes, i, _measuredOut(routes[i]), to);
        arrived = IWrapped(last).balanceOf(to) - before;
        require(arrived >= amountOutMin, "INSUFFICIENT_OUTPUT_AMOUNT");
    }

    function _measuredOut(route calldata one) private view returns (uint256) {
        ISolidPair pair = ISolidPair(_pairOf(one));
        (uint256 reserve0, uint256 reserve1,) = pair.getReserves();
        uint256 reserve = one.from == pair.token0() ? reserve0 : reserve1;
        uint256 amountIn = IWrapped(one.from).balanceOf(address(pair)) - reserve;
        return pair.getAmountOut(amountIn, one.from);
    }

    function _swapOne(route[] calldata routes, uint256 i, uint256 amountOut, address to) private {
        ISolidPair pair = ISolidPair(_pairOf(routes[i]));
        bool zeroForOne = routes[i].from == pair.token0();
        pair.swap(
            zeroForOne ? 0 : amountOut,
            zeroForOne ? amountOut : 0,
            i + 1 < routes.length ? _pairOf(routes[i + 1]) : to,
            ""
        );
    }

    function _wrapInto(route[] calldata routes) private {
        require(routes[0].from == weth, "INVALID_PATH");
        IWrapped(weth).deposit{value: msg.value}();
        _push(weth, _pairOf(routes[0]), msg.value);
    }

    function _unwrapTo(route[] calldata routes, uint256 amount, address to) private {
        require(routes[routes.length - 1].to == weth, "INVALID_PATH");
        IWrapped(weth).withdraw(amount);
        (bool done,) = to.call{value: amount}("");
        require(done, "ETH_TRANSFER_FAILED");
    }

    function _quote(uint256 amountIn, route memory one) private view returns (uint256) {
        address pair = pairFor(one.from, one.to, one.stable);
        return pair == address(0) ? 0 : ISolidPair(pair).getAmountOut(amountIn, one.from);
    }

    function _pairOf(route calldata one) private view returns (address) {
        return pairFor(one.from, one.to, one.stable);
    }

    function _pairOrNew(address tokenA, address tokenB, bool stable) private returns (address pair) {
        pair = pairFor(tokenA, tokenB, stable);
        if (pair == address(0)) pair = ISolidFactory(factory).createPair(tokenA, tokenB, stable);
    }

    function _pull(address token, address from, address to, uint256 amount) private {
        _call(token, abi.encodeWithSignature("transferFrom(address,address,uint256)", from, to, amount));
    }

    function _push(address token, address to, uint256 amount) private {
        _call(token, abi.encodeWithSignature("transfer(address,uint256)", to, amount));
    }

    function _call(address token, bytes memory data) private {
        (bool done, bytes memory answer) = token.call(data);
        require(done && (answer.length == 0 || abi.decode(answer, (bool))), "TRANSFER_FAILED");
    }
}
