// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IPair {
    function token0() external view returns (address);
    function getReserves() external view returns (uint256, uint256, uint256);
    function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256);
    function swap(uint256 out0, uint256 out1, address to, bytes calldata data) external;
}

interface IErc20 {
    function balanceOf(address owner) external view returns (uint256);
    function transferFrom(address from, address to, uint256 amount) external;
}

struct Key {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct Params {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

interface IManager {
    function unlock(bytes calldata data) external returns (bytes memory);
    function swap(Key calldata key, Params calldata params, bytes calldata hookData)
        external
        returns (int256 delta);
    function sync(address currency) external;
    function settle() external payable returns (uint256);
    function take(address currency, address to, uint256 amount) external;
}

/// Swaps the caller's tokens in one pool of any family, without the venue's own router.
///
/// Never deployed: it is put on a node's stage by a code override. It holds nothing between calls
/// and checks little: everybody who calls it is ours. What reverts below it is passed on as it is.
contract StageRouter {
    uint160 private constant LOWEST_PRICE = 4295128739 + 1;
    uint160 private constant HIGHEST_PRICE =
        1461446703485210103287273052203988822378723970342 - 1;

    /// Who the running swap is for, as hooks of Uniswap V4 ask the routers that they know.
    address public msgSender;
    address private pays;

    receive() external payable {}

    /// A pair of the Uniswap V2 or Solidly family. Pays what arrives at the pair, which may be less
    /// than was sent, at the reserves after that. Where the pair does not say its price itself, the
    /// fees (basis points) are tried in turn until the pair accepts one.
    function swapPair(address pair, address tokenIn, uint256 amountIn, uint256[] calldata fees)
        external
    {
        bool upwards = IPair(pair).token0() == tokenIn;
        _pull(tokenIn, msg.sender, pair, amountIn);
        uint256 reserve = _reserve(pair, upwards);
        uint256 arrived = IErc20(tokenIn).balanceOf(pair) - reserve;
        (bool ok, bytes memory said) =
            pair.staticcall(abi.encodeCall(IPair.getAmountOut, (arrived, tokenIn)));
        if (ok && said.length == 32) {
            uint256 named = abi.decode(said, (uint256));
            (ok, said) = _take(pair, upwards, named);
            if (ok) return;
        }
        for (uint256 at = 0; at < fees.length; ++at) {
            (ok, said) = _take(pair, upwards, _formula(pair, upwards, arrived, fees[at]));
            if (ok) return;
        }
        _fail(said);
    }

    /// What the pair would pay by its word, or else by its reserves and the first fee.
    function quotePair(address pair, address tokenIn, uint256 amountIn, uint256[] calldata fees)
        external
        view
        returns (uint256)
    {
        (bool ok, bytes memory said) =
            pair.staticcall(abi.encodeCall(IPair.getAmountOut, (amountIn, tokenIn)));
        if (ok && said.length == 32) return abi.decode(said, (uint256));
        return _formula(pair, IPair(pair).token0() == tokenIn, amountIn, fees[0]);
    }

    /// A pool that calls back for its pay. `order` is the call to make, whatever its family says.
    function swapPool(address pool, address tokenIn, bytes calldata order) external {
        msgSender = msg.sender;
        pays = tokenIn;
        (bool ok, bytes memory said) = pool.call(order);
        if (!ok) _fail(said);
        msgSender = address(0);
        pays = address(0);
    }

    /// The callbacks of Uniswap V3 and all its forks differ in name only: two amounts and some
    /// bytes, where the positive amount is what the pool wants.
    fallback() external {
        (int256 amount0, int256 amount1) = abi.decode(msg.data[4:], (int256, int256));
        int256 wanted = amount0 > 0 ? amount0 : amount1;
        if (wanted > 0) _pull(pays, msgSender, msg.sender, uint256(wanted));
    }

    /// A pool of Uniswap V4's manager; the zero address is the native coin. Answers what was paid
    /// to the manager, and how many native coins the caller got: from outside that cannot be seen,
    /// because gas is paid in them too.
    function swapManaged(address manager, Key calldata key, bool upwards, uint256 amountIn)
        external
        payable
        returns (uint256 paid, uint256 got)
    {
        msgSender = msg.sender;
        bytes memory said = IManager(manager).unlock(abi.encode(key, upwards, amountIn));
        msgSender = address(0);
        (paid, got) = abi.decode(said, (uint256, uint256));
        if (address(this).balance > 0) _pay(msg.sender, address(this).balance);
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        (Key memory key, bool upwards, uint256 amountIn) =
            abi.decode(data, (Key, bool, uint256));
        (address source, address target) =
            upwards ? (key.currency0, key.currency1) : (key.currency1, key.currency0);
        address payer = msgSender;
        uint256 before = target == address(0) ? payer.balance : 0;
        int256 delta = IManager(msg.sender).swap(
            key, Params(upwards, -int256(amountIn), upwards ? LOWEST_PRICE : HIGHEST_PRICE), ""
        );
        int128 first = int128(delta >> 128);
        int128 second = int128(delta);
        uint256 paid = _square(source, payer, upwards ? first : second);
        _square(target, payer, upwards ? second : first);
        return abi.encode(paid, target == address(0) ? payer.balance - before : 0);
    }

    /// Pays the manager what it is owed, or takes what it owes.
    function _square(address currency, address payer, int128 owed) private returns (uint256 paid) {
        if (owed > 0) IManager(msg.sender).take(currency, payer, uint128(owed));
        if (owed >= 0) return 0;
        paid = uint256(-int256(owed));
        IManager(msg.sender).sync(currency);
        if (currency == address(0)) {
            IManager(msg.sender).settle{value: paid}();
        } else {
            _pull(currency, payer, msg.sender, paid);
            IManager(msg.sender).settle();
        }
    }

    function _pay(address to, uint256 amount) private {
        (bool ok, bytes memory said) = to.call{value: amount}("");
        if (!ok) _fail(said);
    }

    function _reserve(address pair, bool first) private view returns (uint256) {
        (uint256 reserve0, uint256 reserve1,) = IPair(pair).getReserves();
        return first ? reserve0 : reserve1;
    }

    function _formula(address pair, bool upwards, uint256 arrived, uint256 feeBp)
        private
        view
        returns (uint256)
    {
        uint256 pay = arrived * (10_000 - feeBp);
        uint256 there = _reserve(pair, upwards);
        return pay * _reserve(pair, !upwards) / (there * 10_000 + pay);
    }

    function _take(address pair, bool upwards, uint256 amount)
        private
        returns (bool, bytes memory)
    {
        (uint256 out0, uint256 out1) = upwards ? (uint256(0), amount) : (amount, uint256(0));
        return pair.call(abi.encodeCall(IPair.swap, (out0, out1, msg.sender, "")));
    }

    /// Some tokens answer nothing; one that answers false has refused.
    function _pull(address token, address from, address to, uint256 amount) private {
        (bool ok, bytes memory said) =
            token.call(abi.encodeCall(IErc20.transferFrom, (from, to, amount)));
        if (!ok) _fail(said);
        require(said.length == 0 || abi.decode(said, (bool)), "transferFrom answered false");
    }

    function _fail(bytes memory said) private pure {
        assembly ("memory-safe") {
            revert(add(said, 0x20), mload(said))
        }
    }
}
