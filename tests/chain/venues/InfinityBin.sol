// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {FullMath} from "@uniswap/v4-core/src/libraries/FullMath.sol";
import {IErc20, InfinityVault, PoolKey} from "./Infinity.sol";

interface IBinHooks {
    function beforeSwap(
        address sender,
        PoolKey calldata key,
        bool swapForY,
        int128 amountSpecified,
        bytes calldata hookData
    ) external returns (bytes4, int256, uint24);
}

/// A manager with the interface, the events and the arithmetic of Infinity's BinPoolManager:
/// constant-sum bins, the price of each `binStep` basis points above that of the one before. A trade
/// goes through as many as it needs, and reverts where they end. No fee of the protocol's.
contract InfinityBinManager {
    uint256 private constant BEFORE_SWAP = 1 << 6;
    uint256 private constant FEE_ONE = 1e6;
    int256 private constant PRICE_ONE = 1 << 23;

    struct Pool {
        uint24 activeId;
        uint24 lpFee;
        uint24 lowest;
        uint24 highest;
        mapping(uint24 => uint256[2]) bins;
    }

    mapping(bytes32 => Pool) private pools;
    mapping(bytes32 => PoolKey) public poolIdToPoolKey;
    InfinityVault public immutable vault;

    error BinPool__OutOfLiquidity();
    error BinPool__InsufficientAmountUnSpecified();

    event Initialize(
        bytes32 indexed id,
        address indexed currency0,
        address indexed currency1,
        address hooks,
        uint24 fee,
        bytes32 parameters,
        uint24 activeId
    );
    event Swap(
        bytes32 indexed id,
        address indexed sender,
        int128 amount0,
        int128 amount1,
        uint24 activeId,
        uint24 fee,
        uint16 protocolFee
    );

    constructor(InfinityVault vault_) {
        vault = vault_;
    }

    function initialize(PoolKey calldata key, uint24 activeId) external {
        require(key.poolManager == address(this), "PoolManagerMismatch");
        require(key.currency0 < key.currency1, "CurrenciesInitializedOutOfOrder");
        bytes32 id = keccak256(abi.encode(key));
        Pool storage pool = pools[id];
        require(pool.activeId == 0, "PoolAlreadyInitialized");
        (pool.activeId, pool.lpFee) = (activeId, key.fee);
        (pool.lowest, pool.highest) = (activeId, activeId);
        poolIdToPoolKey[id] = key;
        emit Initialize(
            id, key.currency0, key.currency1, key.hooks, key.fee, key.parameters, activeId
        );
    }

    function getSlot0(bytes32 id) external view returns (uint24, uint24, uint24) {
        return (pools[id].activeId, 0, pools[id].lpFee);
    }

    function getBin(bytes32 id, uint24 bin)
        external
        view
        returns (uint128, uint128, uint256, uint256)
    {
        uint256[2] storage held = pools[id].bins[bin];
        return (uint128(held[0]), uint128(held[1]), 0, 0);
    }

    /// Strictly beyond `bin`; an end of the range where there is none.
    function getNextNonEmptyBin(bytes32 id, bool swapForY, uint24 bin)
        public
        view
        returns (uint24)
    {
        Pool storage pool = pools[id];
        while (swapForY ? bin > pool.lowest : bin < pool.highest) {
            bin = swapForY ? bin - 1 : bin + 1;
            if (pool.bins[bin][0] + pool.bins[bin][1] > 0) return bin;
        }
        return swapForY ? type(uint24).max : 0;
    }

    /// Puts an equal part of Y into every `gap`th of `count` bins from the active one downwards, and of
    /// X upwards.
    function fill(PoolKey calldata key, uint24 count, uint24 gap, uint256 x, uint256 y) external {
        Pool storage pool = pools[keccak256(abi.encode(key))];
        for (uint24 at = 0; at < count; ++at) {
            pool.bins[pool.activeId - at * gap][1] += y / count;
            pool.bins[pool.activeId + at * gap][0] += x / count;
        }
        pool.lowest = pool.activeId - (count - 1) * gap;
        pool.highest = pool.activeId + (count - 1) * gap;
        _settle(key, -int256(x / count * count), -int256(y / count * count));
    }

    function swap(PoolKey calldata key, bool swapForY, int128 amount, bytes calldata hookData)
        external
        returns (int256)
    {
        require(amount < 0, "exact output is not here");
        if (uint256(key.parameters) & BEFORE_SWAP != 0) {
            IBinHooks(key.hooks).beforeSwap(msg.sender, key, swapForY, amount, hookData);
        }
        bytes32 id = keccak256(abi.encode(key));
        int256 got = int256(_trade(id, uint128(-amount), swapForY));
        (int256 delta0, int256 delta1) =
            swapForY ? (int256(amount), got) : (got, int256(amount));
        Pool storage pool = pools[id];
        emit Swap(
            id, msg.sender, int128(delta0), int128(delta1), pool.activeId, pool.lpFee, 0
        );
        return _settle(key, delta0, delta1);
    }

    function _trade(bytes32 id, uint256 left, bool swapForY) private returns (uint256 total) {
        Pool storage pool = pools[id];
        uint24 bin = pool.activeId;
        while (true) {
            (uint256 taken, uint256 given) = _inBin(id, bin, left, swapForY);
            pool.bins[bin][swapForY ? 0 : 1] += taken;
            pool.bins[bin][swapForY ? 1 : 0] -= given;
            left -= taken;
            total += given;
            if (left == 0) break;
            bin = getNextNonEmptyBin(id, swapForY, bin);
            if (bin == 0 || bin == type(uint24).max) revert BinPool__OutOfLiquidity();
        }
        if (total == 0) revert BinPool__InsufficientAmountUnSpecified();
        pool.activeId = bin;
    }

    /// What a bin takes of a payment, fees included, and gives for it.
    function _inBin(bytes32 id, uint24 bin, uint256 left, bool swapForY)
        private
        view
        returns (uint256 taken, uint256 given)
    {
        uint256 there = pools[id].bins[bin][swapForY ? 1 : 0];
        if (there == 0) return (0, 0);
        uint256 fee = pools[id].lpFee;
        uint256 price = _price(bin, uint16(uint256(poolIdToPoolKey[id].parameters) >> 16));
        uint256 most = swapForY
            ? FullMath.mulDivRoundingUp(there, 1 << 128, price)
            : FullMath.mulDivRoundingUp(there, price, 1 << 128);
        most += (most * fee + FEE_ONE - fee - 1) / (FEE_ONE - fee);
        if (left >= most) return (most, there);
        uint256 net = left - (left * fee + FEE_ONE - 1) / FEE_ONE;
        given = swapForY
            ? FullMath.mulDiv(net, price, 1 << 128)
            : FullMath.mulDiv(net, 1 << 128, price);
        return (left, given < there ? given : there);
    }

    /// Smallest units of Y for one of X, with 128 binary places.
    function _price(uint24 bin, uint16 step) private pure returns (uint256 price) {
        int256 exponent = int256(uint256(bin)) - PRICE_ONE;
        uint256 count = uint256(exponent < 0 ? -exponent : exponent);
        uint256 base = (1 << 128) + (uint256(step) << 128) / 10_000;
        price = 1 << 128;
        for (; count > 0; count >>= 1) {
            if (count & 1 == 1) price = FullMath.mulDiv(price, base, 1 << 128);
            if (count > 1) base = FullMath.mulDiv(base, base, 1 << 128);
        }
        if (exponent < 0) price = type(uint256).max / price;
    }

    function _settle(PoolKey calldata key, int256 delta0, int256 delta1)
        private
        returns (int256 delta)
    {
        delta = (delta0 << 128) | int256(uint256(uint128(int128(delta1))));
        vault.accountAppBalanceDelta(key.currency0, key.currency1, delta, msg.sender);
    }
}

/// Brings liquidity and swaps for whoever calls it, as Infinity's periphery does.
contract InfinityBinRouter {
    InfinityVault private immutable vault;
    address private payer;

    constructor(InfinityVault vault_) {
        vault = vault_;
    }

    receive() external payable {}

    function fill(PoolKey calldata key, uint24 count, uint24 gap, uint256 x, uint256 y)
        external
        payable
    {
        _lock(key, abi.encodeCall(InfinityBinManager.fill, (key, count, gap, x, y)));
    }

    /// Calls the manager with any order, as the exchange's own router can.
    function order(PoolKey calldata key, bytes calldata data) external payable {
        _lock(key, data);
    }

    function swap(PoolKey calldata key, bool swapForY, uint256 amountIn) external payable {
        int128 amount = -int128(uint128(amountIn));
        _lock(key, abi.encodeCall(InfinityBinManager.swap, (key, swapForY, amount, "")));
    }

    function _lock(PoolKey calldata key, bytes memory data) private {
        payer = msg.sender;
        vault.lock(abi.encode(key, data));
        payer = address(0);
        (bool ok,) = msg.sender.call{value: address(this).balance}("");
        require(ok, "coins not taken");
    }

    function lockAcquired(bytes calldata data) external returns (bytes memory) {
        (PoolKey memory key, bytes memory what) = abi.decode(data, (PoolKey, bytes));
        uint256 before0 = vault.reservesOfApp(key.poolManager, key.currency0);
        uint256 before1 = vault.reservesOfApp(key.poolManager, key.currency1);
        (bool ok, bytes memory said) = key.poolManager.call(what);
        if (!ok) {
            assembly ("memory-safe") {
                revert(add(said, 0x20), mload(said))
            }
        }
        _square(key.poolManager, key.currency0, before0);
        _square(key.poolManager, key.currency1, before1);
        return "";
    }

    /// What the manager holds more is owed, and what it holds less is due.
    function _square(address manager, address currency, uint256 before) private {
        uint256 held = vault.reservesOfApp(manager, currency);
        if (held < before) vault.take(currency, payer, before - held);
        if (held <= before) return;
        uint256 due = held - before;
        vault.sync(currency);
        if (currency == address(0)) {
            vault.settle{value: due}();
        } else {
            require(IErc20(currency).transferFrom(payer, address(vault), due), "TF");
            vault.settle();
        }
    }
}

/// Lets one currency be paid in no more, or everything.
contract InfinityBinHook {
    address private immutable blocked;

    constructor(address blocked_) {
        blocked = blocked_;
    }

    function getHooksRegistrationBitmap() external pure returns (uint16) {
        return 1 << 6;
    }

    function beforeSwap(address, PoolKey calldata key, bool swapForY, int128, bytes calldata)
        external
        view
        returns (bytes4, int256, uint24)
    {
        require((swapForY ? key.currency0 : key.currency1) != blocked, "closed");
        return (IBinHooks.beforeSwap.selector, 0, 0);
    }
}
