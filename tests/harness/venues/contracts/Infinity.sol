// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Pool} from "@uniswap/v4-core/src/libraries/Pool.sol";
import {BalanceDelta} from "@uniswap/v4-core/src/types/BalanceDelta.sol";

interface IErc20 {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

interface ILocker {
    function lockAcquired(bytes calldata data) external returns (bytes memory);
}

struct PoolKey {
    address currency0;
    address currency1;
    address hooks;
    address poolManager;
    uint24 fee;
    bytes32 parameters;
}

struct SwapParams {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

struct LiquidityParams {
    int24 tickLower;
    int24 tickUpper;
    int256 liquidityDelta;
    bytes32 salt;
}

interface IHooks {
    function beforeRemoveLiquidity(
        address sender,
        PoolKey calldata key,
        LiquidityParams calldata params,
        bytes calldata hookData
    ) external returns (bytes4);
    function beforeSwap(
        address sender,
        PoolKey calldata key,
        SwapParams calldata params,
        bytes calldata hookData
    ) external returns (bytes4, int256, uint24);
}

/// A vault with the interface of PancakeSwap Infinity's: it holds the tokens of all pools of all
/// registered managers, and ends a lock only when everything is settled.
contract InfinityVault {
    mapping(address => bool) public isAppRegistered;
    mapping(address => mapping(address => uint256)) public reservesOfApp;

    address private locker;
    uint256 private unsettled;
    mapping(address => mapping(address => int256)) private owed;
    address private synced;
    uint256 private syncedBalance;

    modifier isLocked() {
        require(locker != address(0), "NoLocker");
        _;
    }

    function registerApp(address app) external {
        isAppRegistered[app] = true;
    }

    function lock(bytes calldata data) external returns (bytes memory result) {
        require(locker == address(0), "LockerAlreadySet");
        locker = msg.sender;
        result = ILocker(msg.sender).lockAcquired(data);
        require(unsettled == 0, "CurrencyNotSettled");
        locker = address(0);
    }

    function accountAppBalanceDelta(
        address currency0,
        address currency1,
        int256 delta,
        address settler
    ) external isLocked {
        require(isAppRegistered[msg.sender], "AppUnregistered");
        _book(currency0, int128(delta >> 128), settler);
        _book(currency1, int128(delta), settler);
    }

    function sync(address currency) external {
        synced = currency;
        syncedBalance = currency == address(0) ? 0 : IErc20(currency).balanceOf(address(this));
    }

    function settle() external payable isLocked returns (uint256 paid) {
        if (synced == address(0)) {
            paid = msg.value;
        } else {
            require(msg.value == 0, "SettleNonNativeCurrencyWithValue");
            paid = IErc20(synced).balanceOf(address(this)) - syncedBalance;
        }
        _account(msg.sender, synced, int256(paid));
        synced = address(0);
    }

    function take(address currency, address to, uint256 amount) external isLocked {
        _account(msg.sender, currency, -int256(amount));
        if (currency == address(0)) {
            (bool ok,) = to.call{value: amount}("");
            require(ok, "NativeTransferFailed");
        } else {
            require(IErc20(currency).transfer(to, amount), "ERC20TransferFailed");
        }
    }

    function _book(address currency, int256 delta, address settler) private {
        if (delta > 0) reservesOfApp[msg.sender][currency] -= uint256(delta);
        else reservesOfApp[msg.sender][currency] += uint256(-delta);
        _account(settler, currency, delta);
    }

    function _account(address settler, address currency, int256 delta) private {
        if (delta == 0) return;
        int256 before = owed[settler][currency];
        int256 afterwards = before + delta;
        if (before == 0) ++unsettled;
        if (afterwards == 0) --unsettled;
        owed[settler][currency] = afterwards;
    }
}

/// Pays a position manager's debt of one currency for `payer`, or hands out its credit.
function square(
    InfinityVault vault,
    address currency,
    int128 delta,
    address payer,
    address receiver
) {
    if (delta > 0) vault.take(currency, receiver, uint128(delta));
    if (delta >= 0) return;
    uint256 due = uint256(-int256(delta));
    vault.sync(currency);
    if (currency == address(0)) {
        vault.settle{value: due}();
    } else {
        require(IErc20(currency).transferFrom(payer, address(vault), due), "TF");
        vault.settle();
    }
}

/// A manager with the interface and the storage layout of Infinity's CLPoolManager. The arithmetic is
/// Uniswap's, from the v4-core package, whose pool state has the same layout.
contract InfinityManager {
    using Pool for Pool.State;

    uint256 private constant BEFORE_REMOVE = 1 << 4;
    uint256 private constant BEFORE_SWAP = 1 << 6;

    address private owner;
    uint256 private paused;
    mapping(address => uint256) private protocolFeesAccrued;
    address private protocolFeeController;
    mapping(bytes32 => Pool.State) private pools;
    mapping(bytes32 => PoolKey) public poolIdToPoolKey;

    InfinityVault public immutable vault;

    event Initialize(
        bytes32 indexed id,
        address indexed currency0,
        address indexed currency1,
        address hooks,
        uint24 fee,
        bytes32 parameters,
        uint160 sqrtPriceX96,
        int24 tick
    );
    event ModifyLiquidity(
        bytes32 indexed id,
        address indexed sender,
        int24 tickLower,
        int24 tickUpper,
        int256 liquidityDelta,
        bytes32 salt
    );
    event Swap(
        bytes32 indexed id,
        address indexed sender,
        int128 amount0,
        int128 amount1,
        uint160 sqrtPriceX96,
        uint128 liquidity,
        int24 tick,
        uint24 fee,
        uint16 protocolFee
    );

    constructor(InfinityVault vault_) {
        vault = vault_;
        // What the real one has here must not be taken for a pool.
        (owner, paused, protocolFeeController) = (msg.sender, 0, address(this));
    }

    function initialize(PoolKey calldata key, uint160 price) external returns (int24 tick) {
        require(key.poolManager == address(this), "PoolManagerMismatch");
        require(key.currency0 < key.currency1, "CurrenciesInitializedOutOfOrder");
        bytes32 id = keccak256(abi.encode(key));
        tick = pools[id].initialize(price, key.fee);
        poolIdToPoolKey[id] = key;
        emit Initialize(
            id, key.currency0, key.currency1, key.hooks, key.fee, key.parameters, price, tick
        );
    }

    function modifyLiquidity(
        PoolKey calldata key,
        LiquidityParams calldata params,
        bytes calldata hookData
    ) external returns (BalanceDelta delta, BalanceDelta fees) {
        bytes32 id = keccak256(abi.encode(key));
        if (params.liquidityDelta < 0 && uint256(key.parameters) & BEFORE_REMOVE != 0) {
            IHooks(key.hooks).beforeRemoveLiquidity(msg.sender, key, params, hookData);
        }
        (delta, fees) = pools[id].modifyLiquidity(
            Pool.ModifyLiquidityParams(
                msg.sender,
                params.tickLower,
                params.tickUpper,
                int128(params.liquidityDelta),
                _spacing(key),
                params.salt
            )
        );
        delta = delta + fees;
        emit ModifyLiquidity(
            id, msg.sender, params.tickLower, params.tickUpper, params.liquidityDelta, params.salt
        );
        _settle(key, delta);
    }

    function swap(PoolKey calldata key, SwapParams calldata params, bytes calldata hookData)
        external
        returns (BalanceDelta delta)
    {
        bytes32 id = keccak256(abi.encode(key));
        require(params.amountSpecified != 0, "SwapAmountCannotBeZero");
        if (uint256(key.parameters) & BEFORE_SWAP != 0) {
            IHooks(key.hooks).beforeSwap(msg.sender, key, params, hookData);
        }
        uint24 fee;
        Pool.SwapResult memory result;
        (delta,, fee, result) = pools[id].swap(
            Pool.SwapParams(
                params.amountSpecified,
                _spacing(key),
                params.zeroForOne,
                params.sqrtPriceLimitX96,
                0
            )
        );
        emit Swap(
            id,
            msg.sender,
            delta.amount0(),
            delta.amount1(),
            result.sqrtPriceX96,
            result.liquidity,
            result.tick,
            fee,
            0
        );
        _settle(key, delta);
    }

    function extsload(bytes32 slot) external view returns (bytes32 word) {
        assembly ("memory-safe") {
            word := sload(slot)
        }
    }

    function extsload(bytes32[] calldata slots) external view returns (bytes32[] memory words) {
        words = new bytes32[](slots.length);
        for (uint256 at = 0; at < slots.length; ++at) {
            bytes32 slot = slots[at];
            bytes32 word;
            assembly ("memory-safe") {
                word := sload(slot)
            }
            words[at] = word;
        }
    }

    function _settle(PoolKey calldata key, BalanceDelta delta) private {
        vault.accountAppBalanceDelta(
            key.currency0, key.currency1, BalanceDelta.unwrap(delta), msg.sender
        );
    }

    function _spacing(PoolKey calldata key) private pure returns (int24) {
        return int24(uint24(uint256(key.parameters) >> 16));
    }
}

/// Brings liquidity and swaps for whoever calls it, as Infinity's periphery does.
contract InfinityRouter {
    InfinityVault private immutable vault;
    address private payer;

    uint160 private constant LOWEST = 4295128739;
    uint160 private constant HIGHEST = 1461446703485210103287273052203988822378723970342;

    constructor(InfinityVault vault_) {
        vault = vault_;
    }

    receive() external payable {}

    function fill(PoolKey calldata key, int24 outermost, int256 liquidity) external payable {
        LiquidityParams memory params = LiquidityParams(-outermost, outermost, liquidity, 0);
        _lock(key, abi.encodeCall(InfinityManager.modifyLiquidity, (key, params, "")));
    }

    function swap(PoolKey calldata key, bool zeroForOne, uint256 amountIn) external payable {
        uint160 limit = zeroForOne ? LOWEST + 1 : HIGHEST - 1;
        SwapParams memory params = SwapParams(zeroForOne, -int256(amountIn), limit);
        _lock(key, abi.encodeCall(InfinityManager.swap, (key, params, "")));
    }

    function _lock(PoolKey calldata key, bytes memory order) private {
        payer = msg.sender;
        vault.lock(abi.encode(key, order));
        payer = address(0);
        (bool ok,) = msg.sender.call{value: address(this).balance}("");
        require(ok, "coins not taken");
    }

    function lockAcquired(bytes calldata data) external returns (bytes memory) {
        (PoolKey memory key, bytes memory order) = abi.decode(data, (PoolKey, bytes));
        int256 delta = _order(key.poolManager, order, key);
        square(vault, key.currency0, int128(delta >> 128), payer, payer);
        square(vault, key.currency1, int128(delta), payer, payer);
        return "";
    }

    /// Adding liquidity answers nothing here: what is owed is then the difference of the reserves.
    function _order(address manager, bytes memory order, PoolKey memory key)
        private
        returns (int256)
    {
        uint256 before0 = vault.reservesOfApp(manager, key.currency0);
        uint256 before1 = vault.reservesOfApp(manager, key.currency1);
        (bool ok, bytes memory said) = manager.call(order);
        if (!ok) {
            assembly ("memory-safe") {
                revert(add(said, 0x20), mload(said))
            }
        }
        int256 owed0 =
            int256(before0) - int256(vault.reservesOfApp(manager, key.currency0));
        int256 owed1 =
            int256(before1) - int256(vault.reservesOfApp(manager, key.currency1));
        return (owed0 << 128) | int256(uint256(uint128(int128(owed1))));
    }
}

/// Lets the pool's first currency be paid in only, or everything.
contract InfinityHook {
    address private immutable blocked;

    constructor(address blocked_) {
        blocked = blocked_;
    }

    /// The permissions that the manager compares with those in the pool's key.
    function getHooksRegistrationBitmap() external pure returns (uint16) {
        return 1 << 6;
    }

    function beforeSwap(
        address,
        PoolKey calldata key,
        SwapParams calldata params,
        bytes calldata
    ) external view returns (bytes4, int256, uint24) {
        address paid = params.zeroForOne ? key.currency0 : key.currency1;
        require(paid != blocked, "closed");
        return (IHooks.beforeSwap.selector, 0, 0);
    }
}

/// Is asked before liquidity is removed, and lets only its maker do so, or everybody.
contract InfinityExitHook {
    address private immutable maker = msg.sender;
    bool private immutable isOpen;

    constructor(bool isOpen_) {
        isOpen = isOpen_;
    }

    function getHooksRegistrationBitmap() external pure returns (uint16) {
        return 1 << 4;
    }

    function beforeRemoveLiquidity(
        address,
        PoolKey calldata,
        LiquidityParams calldata,
        bytes calldata
    ) external view returns (bytes4) {
        require(isOpen || tx.origin == maker, "no way out");
        return IHooks.beforeRemoveLiquidity.selector;
    }
}
