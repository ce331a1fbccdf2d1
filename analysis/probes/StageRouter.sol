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
    function transfer(address to, uint256 amount) external;
    function transferFrom(address from, address to, uint256 amount) external;
}

interface IWrapped {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

interface IPermit2 {
    function transferFrom(address from, address to, uint160 amount, address token) external;
}

/// How the caller pays and is paid. Both zero: in tokens, by allowances given to this router.
struct Means {
    /// The wrapped coin, which the caller pays or gets as the coin itself. Zero: as a token.
    address wrapped;
    /// The contract that takes the caller's tokens (Permit2). Zero: this router itself.
    address permit2;
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

/// The key of a pool of PancakeSwap Infinity, whose tokens lie in a vault beside the manager.
struct VaultKey {
    address currency0;
    address currency1;
    address hooks;
    address poolManager;
    uint24 fee;
    bytes32 parameters;
}

interface IVaultManager {
    function vault() external view returns (address);
    function poolIdToPoolKey(bytes32 id) external view returns (VaultKey memory);
    function swap(VaultKey calldata key, Params calldata params, bytes calldata hookData)
        external
        returns (int256 delta);
}

/// The manager of Infinity's pools of bins.
interface IBinManager {
    function swap(VaultKey calldata key, bool forY, int128 amount, bytes calldata hookData)
        external
        returns (int256 delta);
}

/// A pair of Liquidity Book: bins of one price each.
interface IBook {
    function getTokenX() external view returns (address);
    function getSwapOut(uint128 amountIn, bool swapForY)
        external
        view
        returns (uint128 amountInLeft, uint128 amountOut, uint128 fee);
    function swap(bool swapForY, address to) external;
}

/// What is ordered of Balancer V3's vault.
struct Order {
    /// 0: the amount is what is paid in.
    uint8 kind;
    address pool;
    address tokenIn;
    address tokenOut;
    uint256 amount;
    uint256 limit;
    bytes userData;
}

/// Balancer V3's vault, which calls who unlocks it with the data that it was given.
interface IUnlocked {
    function unlock(bytes calldata data) external returns (bytes memory);
    function swap(Order calldata order)
        external
        returns (uint256 calculated, uint256 paid, uint256 got);
    function settle(address token, uint256 amount) external returns (uint256);
    function sendTo(address token, address to, uint256 amount) external;
}

/// A proactive market maker of DODO's.
interface IMaker {
    function _BASE_TOKEN_() external view returns (address);
    function sellBase(address to) external returns (uint256);
    function sellQuote(address to) external returns (uint256);
    function querySellBase(address trader, uint256 amount) external view returns (uint256);
    function querySellQuote(address trader, uint256 amount) external view returns (uint256);
}

interface IVault {
    function lock(bytes calldata data) external returns (bytes memory);
}

/// Swaps the caller's tokens in one pool of any family, without the venue's own router.
///
/// Never deployed: it is put on a node's stage by a code override. It holds nothing between calls
/// and checks little: everybody who calls it is ours. What reverts below it is passed on as it is.
contract StageRouter {
    uint160 private constant LOWEST_PRICE = 4295128739 + 1;
    uint160 private constant HIGHEST_PRICE =
        1461446703485210103287273052203988822378723970342 - 1;

    /// What a manager of bins says where they end before the order does.
    bytes4 private constant OUT_OF_LIQUIDITY = bytes4(keccak256("BinPool__OutOfLiquidity()"));
    uint256 private constant REACH_TRIES = 8;
    uint256 private constant REACH_STEP = 8;

    /// Keeps the slots below out of the way of what a real router at this address has stored.
    uint256[2 ** 64] private apart;

    /// Who the running swap is for, as hooks of Uniswap V4 ask the routers that they know.
    address public msgSender;
    address private pays;
    Means private means;
    bytes32 private asking;

    receive() external payable {}

    /// A pair of the Uniswap V2 or Solidly family. Pays what arrives at the pair, which may be less
    /// than was sent, at the reserves after that. Where the pair does not say its price itself, the
    /// fees (basis points) are tried in turn until the pair accepts one.
    function swapPair(
        address pair,
        address tokenIn,
        uint256 amountIn,
        uint256[] calldata fees,
        Means calldata means_
    ) external payable {
        means = means_;
        _pull(tokenIn, msg.sender, pair, amountIn);
        _takeBest(pair, tokenIn, fees, _receiver(tokenIn));
        _settle(tokenIn);
    }

    function _takeBest(address pair, address tokenIn, uint256[] calldata fees, address to) private {
        bool upwards = IPair(pair).token0() == tokenIn;
        uint256 arrived = IErc20(tokenIn).balanceOf(pair) - _reserve(pair, upwards);
        (bool ok, bytes memory said) =
            pair.staticcall(abi.encodeCall(IPair.getAmountOut, (arrived, tokenIn)));
        if (ok && said.length == 32) {
            uint256 named = abi.decode(said, (uint256));
            (ok, said) = _take(pair, upwards, named, to);
            if (ok) return;
        }
        for (uint256 at = 0; at < fees.length; ++at) {
            (ok, said) = _take(pair, upwards, _formula(pair, upwards, arrived, fees[at]), to);
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

    /// A pair of Liquidity Book, which trades what arrives. Where its bins end before, it would revert
    /// whatever the token does: then there is no trade, and no revert.
    function swapBook(address book, address tokenIn, uint256 amountIn, Means calldata means_)
        external
        payable
    {
        means = means_;
        uint256 before = IErc20(tokenIn).balanceOf(book);
        _pull(tokenIn, msg.sender, book, amountIn);
        uint256 arrived = IErc20(tokenIn).balanceOf(book) - before;
        bool forY = IBook(book).getTokenX() == tokenIn;
        (uint128 left,,) = IBook(book).getSwapOut(uint128(arrived), forY);
        if (left > 0) return;
        IBook(book).swap(forY, _receiver(tokenIn));
        _settle(tokenIn);
    }

    /// How much of an order the pair would take and what it would give for it. Nobody pays.
    function reachBook(address book, address tokenIn, uint256 amountIn)
        external
        view
        returns (uint256 taken, uint256 given)
    {
        (uint128 left, uint128 amountOut,) =
            IBook(book).getSwapOut(uint128(amountIn), IBook(book).getTokenX() == tokenIn);
        return (amountIn - left, amountOut);
    }

    /// A pool that calls back for its pay. `order` is the call to make, whatever its family says;
    /// where the caller is paid in coin, the order's receiver is this router.
    function swapPool(address pool, address tokenIn, bytes calldata order, Means calldata means_)
        external
        payable
    {
        means = means_;
        msgSender = msg.sender;
        pays = tokenIn;
        (bool ok, bytes memory said) = pool.call(order);
        if (!ok) _fail(said);
        msgSender = address(0);
        pays = address(0);
        _settle(tokenIn);
    }

    /// How much of an order the pool would take and what it would give for it: both 0 where the
    /// swap meets no liquidity up to its last price. Nobody pays. `mark` is a word that nobody else
    /// knows, so that no token can answer in the pool's place.
    function reachPool(address pool, bytes calldata order, bytes32 mark)
        external
        returns (uint256 taken, uint256 given)
    {
        asking = mark;
        (, bytes memory said) = pool.call(order);
        return _reached(said, mark);
    }

    /// The same in a pool of Uniswap V4's manager.
    function reachManaged(
        address manager,
        Key calldata key,
        bool upwards,
        uint256 amountIn,
        bytes32 mark
    ) external returns (uint256 taken, uint256 given) {
        asking = mark;
        msgSender = msg.sender;
        (, bytes memory said) =
            manager.call(abi.encodeCall(IManager.unlock, (abi.encode(key, upwards, amountIn))));
        msgSender = address(0);
        return _reached(said, mark);
    }

    /// The same in a pool of PancakeSwap Infinity.
    function reachVaulted(
        address manager,
        bytes32 id,
        bool hasBins,
        bool upwards,
        uint256 amountIn,
        bytes32 mark
    ) external returns (uint256 taken, uint256 given) {
        asking = mark;
        msgSender = msg.sender;
        bytes memory order = abi.encode(manager, id, hasBins, upwards, amountIn);
        (, bytes memory said) =
            IVaultManager(manager).vault().call(abi.encodeCall(IVault.lock, (order)));
        msgSender = address(0);
        return _reached(said, mark);
    }

    function _reached(bytes memory said, bytes32 mark) private returns (uint256, uint256) {
        asking = 0;
        if (said.length != 96) _fail(said);
        (bytes32 told, uint256 taken, uint256 given) =
            abi.decode(said, (bytes32, uint256, uint256));
        if (told != mark) _fail(said);
        return (taken, given);
    }

    /// Ends a swap that was only asked about. Both amounts are from the trader's side.
    function _answer(int256 paid, int256 got) private view {
        if (asking == 0) return;
        bytes memory said =
            abi.encode(asking, paid > 0 ? uint256(paid) : 0, got > 0 ? uint256(got) : 0);
        _fail(said);
    }

    /// The callbacks of Uniswap V3 and all its forks differ in name only: two amounts and some
    /// bytes, where the positive amount is what the pool wants.
    fallback() external {
        (int256 amount0, int256 amount1) = abi.decode(msg.data[4:], (int256, int256));
        (int256 wanted, int256 given) = amount0 > 0 ? (amount0, -amount1) : (amount1, -amount0);
        _answer(wanted, given);
        if (wanted > 0) _pull(pays, msgSender, msg.sender, uint256(wanted));
    }

    /// A pool of Uniswap V4's manager; the zero address is the native coin. Answers what was paid
    /// to the manager, and how many native coins the caller got: from outside that cannot be seen,
    /// because gas is paid in them too.
    function swapManaged(
        address manager,
        Key calldata key,
        bool upwards,
        uint256 amountIn,
        Means calldata means_
    ) external payable returns (uint256 paid, uint256 got) {
        means = means_;
        msgSender = msg.sender;
        bytes memory said = IManager(manager).unlock(abi.encode(key, upwards, amountIn));
        msgSender = address(0);
        (paid, got) = abi.decode(said, (uint256, uint256));
        if (address(this).balance > 0) _pay(msg.sender, address(this).balance);
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        (Key memory key, bool upwards, uint256 amountIn) =
            abi.decode(data, (Key, bool, uint256));
        uint256 before = _coins(upwards ? key.currency1 : key.currency0);
        int256 delta = IManager(msg.sender).swap(key, _params(upwards, amountIn), "");
        return _squareBoth(key.currency0, key.currency1, upwards, delta, before);
    }

    /// A pool of PancakeSwap Infinity, known by its id. Answers as swapManaged does. Where a pool's
    /// bins end before the order, it would revert whatever the token does: then there is no trade, and
    /// no revert.
    function swapVaulted(
        address manager,
        bytes32 id,
        bool hasBins,
        bool upwards,
        uint256 amountIn,
        Means calldata means_
    ) external payable returns (uint256 paid, uint256 got) {
        means = means_;
        msgSender = msg.sender;
        bytes memory order = abi.encode(manager, id, hasBins, upwards, amountIn);
        bytes memory said = IVault(IVaultManager(manager).vault()).lock(order);
        msgSender = address(0);
        (paid, got) = abi.decode(said, (uint256, uint256));
        if (address(this).balance > 0) _pay(msg.sender, address(this).balance);
    }

    function lockAcquired(bytes calldata data) external returns (bytes memory) {
        (IVaultManager manager, bytes32 id, bool hasBins, bool upwards, uint256 amountIn) =
            abi.decode(data, (IVaultManager, bytes32, bool, bool, uint256));
        VaultKey memory key = manager.poolIdToPoolKey(id);
        uint256 before = _coins(upwards ? key.currency1 : key.currency0);
        int256 delta = hasBins
            ? _swapInBins(address(manager), key, upwards, amountIn)
            : manager.swap(key, _params(upwards, amountIn), "");
        return _squareBoth(key.currency0, key.currency1, upwards, delta, before);
    }

    /// 0 where the bins end before the order. A pool that is only asked is offered less and less.
    function _swapInBins(address manager, VaultKey memory key, bool forY, uint256 amountIn)
        private
        returns (int256)
    {
        uint256 tries = asking == 0 ? 1 : REACH_TRIES;
        for (; tries > 0 && amountIn > 0; --tries) {
            int128 amount = -int128(uint128(amountIn));
            (bool ok, bytes memory said) =
                manager.call(abi.encodeCall(IBinManager.swap, (key, forY, amount, "")));
            if (ok) return abi.decode(said, (int256));
            if (said.length != 4 || bytes4(said) != OUT_OF_LIQUIDITY) _fail(said);
            amountIn /= REACH_STEP;
        }
        return 0;
    }

    /// A market maker of DODO's, which trades what arrived since its last trade. Where it has nothing
    /// to give for the order, whatever the token does, there is no trade, and no revert.
    function swapMaker(address maker, address tokenIn, uint256 amountIn, Means calldata means_)
        external
        payable
    {
        try this.quoteMaker(maker, tokenIn, amountIn) returns (uint256 offered) {
            if (offered == 0) return;
        } catch {
            return;
        }
        means = means_;
        _pull(tokenIn, msg.sender, maker, amountIn);
        address to = _receiver(tokenIn);
        if (IMaker(maker)._BASE_TOKEN_() == tokenIn) IMaker(maker).sellBase(to);
        else IMaker(maker).sellQuote(to);
        _settle(tokenIn);
    }

    /// What the market maker would pay.
    function quoteMaker(address maker, address tokenIn, uint256 amountIn)
        public
        view
        returns (uint256)
    {
        return IMaker(maker)._BASE_TOKEN_() == tokenIn
            ? IMaker(maker).querySellBase(msg.sender, amountIn)
            : IMaker(maker).querySellQuote(msg.sender, amountIn);
    }

    /// A pool in Balancer V3's vault. Answers as swapManaged does.
    function swapUnlocked(IUnlocked vault, Order calldata order, Means calldata means_)
        external
        payable
        returns (uint256 paid, uint256 got)
    {
        means = means_;
        msgSender = msg.sender;
        address to = _receiver(order.tokenIn);
        bytes memory said = vault.unlock(abi.encodeCall(this.squareUnlocked, (vault, order, to)));
        msgSender = address(0);
        // The vault returns what the call returned, as bytes.
        (paid, got) = (abi.decode(said, (uint256)), 0);
        _settle(order.tokenIn);
    }

    function squareUnlocked(IUnlocked vault, Order calldata order, address to)
        external
        returns (uint256 paid)
    {
        uint256 got;
        (, paid, got) = vault.swap(order);
        _pull(order.tokenIn, msgSender, address(vault), paid);
        vault.settle(order.tokenIn, paid);
        vault.sendTo(order.tokenOut, to, got);
    }

    function _params(bool upwards, uint256 amountIn) private pure returns (Params memory) {
        return Params(upwards, -int256(amountIn), upwards ? LOWEST_PRICE : HIGHEST_PRICE);
    }

    /// The native coins of who pays. 0 where another currency is asked for.
    function _coins(address currency) private view returns (uint256) {
        return currency == address(0) ? msgSender.balance : 0;
    }

    /// Settles both sides of a swap with the caller, a manager or a vault. `before`: the native coins
    /// that the payer had, if those are bought.
    function _squareBoth(
        address currency0,
        address currency1,
        bool upwards,
        int256 delta,
        uint256 before
    ) private returns (bytes memory) {
        (address source, address target) =
            upwards ? (currency0, currency1) : (currency1, currency0);
        (int128 first, int128 second) = (int128(delta >> 128), int128(delta));
        if (!upwards) (first, second) = (second, first);
        _answer(-first, second);
        address payer = msgSender;
        uint256 paid = _square(source, payer, first);
        _square(target, payer, second);
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

    /// Who gets what is bought: this router, where it is to be made coins.
    function _receiver(address tokenIn) private view returns (address) {
        address wrapped = means.wrapped;
        return wrapped == address(0) || wrapped == tokenIn ? msg.sender : address(this);
    }

    /// Makes coins of what was bought, where they are wanted, and pays out all that there are.
    function _settle(address tokenIn) private {
        if (_receiver(tokenIn) == address(this)) {
            address wrapped = means.wrapped;
            IWrapped(wrapped).withdraw(IErc20(wrapped).balanceOf(address(this)));
        }
        if (address(this).balance > 0) _pay(msg.sender, address(this).balance);
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

    function _take(address pair, bool upwards, uint256 amount, address to)
        private
        returns (bool, bytes memory)
    {
        (uint256 out0, uint256 out1) = upwards ? (uint256(0), amount) : (amount, uint256(0));
        return pair.call(abi.encodeCall(IPair.swap, (out0, out1, to, "")));
    }

    /// Some tokens answer nothing; one that answers false has refused.
    function _pull(address token, address from, address to, uint256 amount) private {
        bytes memory order;
        address through = token;
        if (token == means.wrapped) {
            IWrapped(token).deposit{value: amount}();
            order = abi.encodeCall(IErc20.transfer, (to, amount));
        } else if (means.permit2 != address(0)) {
            through = means.permit2;
            order = abi.encodeCall(IPermit2.transferFrom, (from, to, uint160(amount), token));
        } else {
            order = abi.encodeCall(IErc20.transferFrom, (from, to, amount));
        }
        (bool ok, bytes memory said) = through.call(order);
        if (!ok) _fail(said);
        require(said.length == 0 || abi.decode(said, (bool)), "transferFrom answered false");
    }

    function _fail(bytes memory said) private pure {
        assembly ("memory-safe") {
            revert(add(said, 0x20), mload(said))
        }
    }
}
