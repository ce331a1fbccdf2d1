// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {FullMath} from "@uniswap/v4-core/src/libraries/FullMath.sol";
import {InfinityVault, PoolKey, square} from "./Infinity.sol";

struct MintParams {
    /// Parts of both amounts, of 1e18, from bit 88 and bit 24 on, and below them the bin.
    bytes32[] liquidityConfigs;
    bytes32 amountIn;
    bytes32 salt;
}

struct BurnParams {
    uint256[] ids;
    uint256[] amountsToBurn;
    bytes32 salt;
}

interface IBinHooks {
    function beforeBurn(
        address sender,
        PoolKey calldata key,
        BurnParams calldata params,
        bytes calldata hookData
    ) external returns (bytes4);
    function afterBurn(
        address sender,
        PoolKey calldata key,
        BurnParams calldata params,
        int256 delta,
        bytes calldata hookData
    ) external returns (bytes4, int256);
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
/// goes through as many as it needs, and reverts where they end. No fee of the protocol's,
/// and none for liquidity that changes the composition of the active bin.
contract InfinityBinManager {
    uint256 private constant BEFORE_BURN = 1 << 4;
    uint256 private constant AFTER_BURN = 1 << 5;
    uint256 private constant BEFORE_SWAP = 1 << 6;
    uint256 private constant AFTER_BURN_RETURNS_DELTA = 1 << 13;
    uint256 private constant LEAST_SHARES = 1e3;
    uint256 private constant FEE_ONE = 1e6;
    int256 private constant PRICE_ONE = 1 << 23;

    struct Pool {
        uint24 activeId;
        uint24 lpFee;
        uint24 lowest;
        uint24 highest;
        mapping(uint24 => uint256[2]) bins;
        mapping(uint24 => uint256) sharesOf;
        mapping(bytes32 => uint256) positions;
    }

    struct Added {
        uint256[] ids;
        bytes32[] amounts;
        uint256[] liquidityMinted;
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
    event Mint(
        bytes32 indexed id,
        address indexed sender,
        uint256[] ids,
        bytes32 salt,
        bytes32[] amounts,
        bytes32 compositionFeeAmount,
        bytes32 feeAmountToProtocol
    );
    event Burn(
        bytes32 indexed id,
        address indexed sender,
        uint256[] ids,
        bytes32 salt,
        bytes32[] amounts
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
        uint256 price = _price(bin, uint16(uint256(poolIdToPoolKey[id].parameters) >> 16));
        uint256 liquidity = price * held[0] + (held[1] << 128);
        return (uint128(held[0]), uint128(held[1]), liquidity, pools[id].sharesOf[bin]);
    }

    function getPosition(bytes32 id, address owner, uint24 bin, bytes32 salt)
        external
        view
        returns (uint256)
    {
        return pools[id].positions[keccak256(abi.encodePacked(owner, bin, salt))];
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

    function mint(PoolKey calldata key, MintParams calldata params, bytes calldata)
        external
        returns (int256 delta, Added memory added)
    {
        uint256 count = params.liquidityConfigs.length;
        added = Added(new uint256[](count), new bytes32[](count), new uint256[](count));
        bytes32 id = keccak256(abi.encode(key));
        uint256[2] memory paid;
        for (uint256 at = 0; at < count; ++at) {
            (uint256 x, uint256 y) = _addTo(id, added, at, params);
            (paid[0], paid[1]) = (paid[0] + x, paid[1] + y);
        }
        emit Mint(id, msg.sender, added.ids, params.salt, added.amounts, 0, 0);
        delta = _settle(key, -int256(paid[0]), -int256(paid[1]));
    }

    function _addTo(bytes32 id, Added memory added, uint256 at, MintParams calldata params)
        private
        returns (uint256 x, uint256 y)
    {
        uint256 config = uint256(params.liquidityConfigs[at]);
        uint256 amounts = uint256(params.amountIn);
        x = uint128(amounts) * uint256(uint64(config >> 88)) / 1e18;
        y = (amounts >> 128) * uint64(config >> 24) / 1e18;
        added.ids[at] = uint24(config);
        added.amounts[at] = bytes32(x | y << 128);
        added.liquidityMinted[at] = _grow(id, uint24(config), x, y, params.salt);
    }

    /// The first to bring something to a bin leaves a few shares with nobody.
    function _grow(bytes32 id, uint24 bin, uint256 x, uint256 y, bytes32 salt)
        private
        returns (uint256 shares)
    {
        Pool storage pool = pools[id];
        uint256[2] storage held = pool.bins[bin];
        uint256 price = _price(bin, uint16(uint256(poolIdToPoolKey[id].parameters) >> 16));
        shares = price * x + (y << 128);
        if (shares == 0) return 0;
        uint256 supply = pool.sharesOf[bin];
        if (supply > 0) {
            shares = FullMath.mulDiv(shares, supply, price * held[0] + (held[1] << 128));
        }
        pool.sharesOf[bin] = supply + shares;
        if (supply == 0) shares -= LEAST_SHARES;
        pool.positions[keccak256(abi.encodePacked(msg.sender, bin, salt))] += shares;
        (held[0], held[1]) = (held[0] + x, held[1] + y);
        if (bin < pool.lowest) pool.lowest = bin;
        if (bin > pool.highest) pool.highest = bin;
    }

    function burn(PoolKey calldata key, BurnParams calldata params, bytes calldata hookData)
        external
        returns (int256)
    {
        uint256 permissions = uint256(key.parameters);
        if (permissions & BEFORE_BURN != 0) {
            IBinHooks(key.hooks).beforeBurn(msg.sender, key, params, hookData);
        }
        (uint256 x, uint256 y) = _shrink(key, params);
        int256 delta = int256(x << 128 | y);
        if (permissions & AFTER_BURN == 0) return _settle(key, int256(x), int256(y));
        (, int256 kept) =
            IBinHooks(key.hooks).afterBurn(msg.sender, key, params, delta, hookData);
        if (permissions & AFTER_BURN_RETURNS_DELTA == 0) kept = 0;
        vault.accountAppBalanceDelta(key.currency0, key.currency1, kept, key.hooks);
        return _settle(
            key, int256(x) - (kept >> 128), int256(y) - int256(uint256(uint128(uint256(kept))))
        );
    }

    function _shrink(PoolKey calldata key, BurnParams calldata params)
        private
        returns (uint256 x, uint256 y)
    {
        bytes32 id = keccak256(abi.encode(key));
        Pool storage pool = pools[id];
        bytes32[] memory amounts = new bytes32[](params.ids.length);
        for (uint256 at = 0; at < params.ids.length; ++at) {
            uint24 bin = uint24(params.ids[at]);
            uint256 burnt = params.amountsToBurn[at];
            require(burnt > 0, "BinPool__BurnZeroAmount");
            pool.positions[keccak256(abi.encodePacked(msg.sender, bin, params.salt))] -= burnt;
            uint256[2] storage held = pool.bins[bin];
            uint256 ofX = FullMath.mulDiv(held[0], burnt, pool.sharesOf[bin]);
            uint256 ofY = FullMath.mulDiv(held[1], burnt, pool.sharesOf[bin]);
            require(ofX + ofY > 0, "BinPool__ZeroAmountsOut");
            pool.sharesOf[bin] -= burnt;
            (held[0], held[1]) = (held[0] - ofX, held[1] - ofY);
            amounts[at] = bytes32(ofX | ofY << 128);
            (x, y) = (x + ofX, y + ofY);
        }
        emit Burn(id, msg.sender, params.ids, params.salt, amounts);
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

/// Equal parts of Y in every `gap`th of `count` bins from `from` below the active one downwards, and
/// of X as far upwards.
function spread(uint24 active, uint24 from, uint24 count, uint24 gap)
    pure
    returns (bytes32[] memory configs)
{
    configs = new bytes32[](2 * uint256(count));
    uint256 part = 1e18 / count;
    for (uint24 at = 0; at < count; ++at) {
        uint24 away = from + at * gap;
        configs[at] = bytes32(part << 24 | active - away);
        configs[count + at] = bytes32(part << 88 | active + away);
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

    /// Puts an equal part of Y into every `gap`th of `count` bins, `from` bins below the active one and
    /// further down, and of X as far upwards.
    function fill(
        PoolKey calldata key,
        uint24 from,
        uint24 count,
        uint24 gap,
        uint256 x,
        uint256 y
    ) external payable {
        InfinityBinManager manager = InfinityBinManager(key.poolManager);
        (uint24 active,,) = manager.getSlot0(keccak256(abi.encode(key)));
        MintParams memory params =
            MintParams(spread(active, from, count, gap), bytes32(x | y << 128), 0);
        _lock(key, abi.encodeCall(InfinityBinManager.mint, (key, params, "")));
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
        int256 delta = int256(before) - int256(vault.reservesOfApp(manager, currency));
        square(vault, currency, int128(delta), payer, payer);
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

/// Is asked about liquidity that leaves. `mode` 0: lets it; 1: only its maker's; 2: keeps nine tenths.
contract InfinityBinExitHook {
    address private immutable maker = msg.sender;
    InfinityVault private immutable vault;
    uint256 private immutable mode;

    constructor(InfinityVault vault_, uint256 mode_) {
        (vault, mode) = (vault_, mode_);
    }

    function getHooksRegistrationBitmap() external view returns (uint16) {
        return mode == 2 ? 1 << 5 | 1 << 13 : 1 << 4;
    }

    function beforeBurn(address, PoolKey calldata, BurnParams calldata, bytes calldata)
        external
        view
        returns (bytes4)
    {
        require(mode != 1 || tx.origin == maker, "no way out");
        return IBinHooks.beforeBurn.selector;
    }

    function afterBurn(
        address,
        PoolKey calldata key,
        BurnParams calldata,
        int256 delta,
        bytes calldata
    ) external returns (bytes4, int256) {
        uint256 kept0 = uint256(delta >> 128) * 9 / 10;
        uint256 kept1 = uint256(uint128(uint256(delta))) * 9 / 10;
        vault.take(key.currency0, maker, kept0);
        vault.take(key.currency1, maker, kept1);
        return (IBinHooks.afterBurn.selector, int256(kept0 << 128 | kept1));
    }
}
