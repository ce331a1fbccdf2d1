// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

interface IV3Pool {
    function onSwap(uint256 amount, uint256 balanceIn, uint256 balanceOut)
        external
        view
        returns (uint256);
}

interface IV3Hook {
    /// What of `amountOut` the trader gets.
    function onAfterSwap(address tokenIn, uint256 amountOut) external returns (uint256);
}

struct TokenConfig {
    address token;
    uint8 tokenType;
    address rateProvider;
    bool paysYieldFees;
}

struct TokenInfo {
    uint8 tokenType;
    address rateProvider;
    bool paysYieldFees;
}

struct Roles {
    address pauseManager;
    address swapFeeManager;
    address poolCreator;
}

struct Hooks {
    bool enableHookAdjustedAmounts;
    bool shouldCallBeforeInitialize;
    bool shouldCallAfterInitialize;
    bool shouldCallComputeDynamicSwapFee;
    bool shouldCallBeforeSwap;
    bool shouldCallAfterSwap;
    bool shouldCallBeforeAddLiquidity;
    bool shouldCallAfterAddLiquidity;
    bool shouldCallBeforeRemoveLiquidity;
    bool shouldCallAfterRemoveLiquidity;
    address hooksContract;
}

struct LiquidityManagement {
    bool disableUnbalancedLiquidity;
    bool enableAddLiquidityCustom;
    bool enableRemoveLiquidityCustom;
    bool enableDonation;
}

struct VaultSwapParams {
    uint8 kind;
    address pool;
    address tokenIn;
    address tokenOut;
    uint256 amountGivenRaw;
    uint256 limitRaw;
    bytes userData;
}

/// A vault with the interface and the events of Balancer V3's: whoever unlocks it trades by debts and
/// credits, which must be square when it locks again. It counts what arrived.
contract BalancerV3Vault {
    uint256 private constant FEE = 3e15;
    uint256 private constant ONE = 1e18;

    mapping(address => address[]) private tokens;
    mapping(address => address) private hooks;
    mapping(address => mapping(address => uint256)) private balances;
    mapping(address => uint256) private reserves;
    mapping(address => int256) private deltas;
    uint256 private unsquare;
    bool private unlocked;

    event PoolRegistered(
        address indexed pool,
        address indexed factory,
        TokenConfig[] tokenConfig,
        uint256 swapFeePercentage,
        uint32 pauseWindowEndTime,
        Roles roleAccounts,
        Hooks hooksConfig,
        LiquidityManagement liquidityManagement
    );
    event Swap(
        address indexed pool,
        address indexed tokenIn,
        address indexed tokenOut,
        uint256 amountIn,
        uint256 amountOut,
        uint256 swapFeePercentage,
        uint256 swapFeeAmount
    );

    error BalanceNotSettled();
    error VaultIsNotUnlocked();
    error PoolNotRegistered(address pool);

    function registerPool(address pool, address[] calldata added, address hook) external {
        tokens[pool] = added;
        hooks[pool] = hook;
        TokenConfig[] memory config = new TokenConfig[](added.length);
        for (uint256 at = 0; at < added.length; ++at) config[at].token = added[at];
        Roles memory roles;
        Hooks memory told;
        LiquidityManagement memory liquidity;
        told.hooksContract = hook;
        told.shouldCallAfterSwap = told.enableHookAdjustedAmounts = hook != address(0);
        emit PoolRegistered(pool, msg.sender, config, FEE, 0, roles, told, liquidity);
    }

    function getPoolTokenInfo(address pool)
        external
        view
        returns (
            address[] memory all,
            TokenInfo[] memory infos,
            uint256[] memory held,
            uint256[] memory lastLive
        )
    {
        all = tokens[pool];
        if (all.length == 0) revert PoolNotRegistered(pool);
        infos = new TokenInfo[](all.length);
        held = new uint256[](all.length);
        for (uint256 at = 0; at < all.length; ++at) held[at] = balances[pool][all[at]];
        lastLive = held;
    }

    function getStaticSwapFeePercentage(address pool) external view returns (uint256) {
        if (tokens[pool].length == 0) revert PoolNotRegistered(pool);
        return FEE;
    }

    /// Stands for adding liquidity of one token.
    function fill(address pool, address token, uint256 amount) external {
        require(IToken(token).transferFrom(msg.sender, address(this), amount), "not paid");
        balances[pool][token] += amount;
        reserves[token] += amount;
    }

    function unlock(bytes calldata data) external returns (bytes memory) {
        bool before = unlocked;
        unlocked = true;
        (bool ok, bytes memory said) = msg.sender.call(data);
        if (!ok) {
            assembly ("memory-safe") {
                revert(add(said, 0x20), mload(said))
            }
        }
        if (!before) {
            if (unsquare != 0) revert BalanceNotSettled();
            unlocked = false;
        }
        return said;
    }

    modifier whenUnlocked() {
        if (!unlocked) revert VaultIsNotUnlocked();
        _;
    }

    function settle(address token, uint256 hint) external whenUnlocked returns (uint256 credit) {
        uint256 held = IToken(token).balanceOf(address(this));
        credit = held - reserves[token];
        reserves[token] = held;
        if (credit > hint) credit = hint;
        _owe(token, -int256(credit));
    }

    function sendTo(address token, address to, uint256 amount) external whenUnlocked {
        _owe(token, int256(amount));
        reserves[token] -= amount;
        require(IToken(token).transfer(to, amount), "not sent");
    }

    function swap(VaultSwapParams calldata order)
        external
        whenUnlocked
        returns (uint256 calculated, uint256 paid, uint256 got)
    {
        if (tokens[order.pool].length == 0) revert PoolNotRegistered(order.pool);
        require(order.kind == 0 && order.amountGivenRaw > 0, "exact in alone");
        mapping(address => uint256) storage held = balances[order.pool];
        paid = order.amountGivenRaw;
        uint256 fee = (paid * FEE + ONE - 1) / ONE;
        got = IV3Pool(order.pool).onSwap(paid - fee, held[order.tokenIn], held[order.tokenOut]);
        require(got >= order.limitRaw, "limit");
        held[order.tokenIn] += paid;
        held[order.tokenOut] -= got;
        _owe(order.tokenIn, int256(paid));
        _owe(order.tokenOut, -int256(got));
        emit Swap(order.pool, order.tokenIn, order.tokenOut, paid, got, FEE, fee);
        got = _afterSwap(order.pool, order.tokenIn, order.tokenOut, got);
        calculated = got;
    }

    /// The hook keeps the rest as its own liquidity, which here nobody takes out.
    function _afterSwap(address pool, address tokenIn, address tokenOut, uint256 amountOut)
        private
        returns (uint256 left)
    {
        address hook = hooks[pool];
        if (hook == address(0)) return amountOut;
        left = IV3Hook(hook).onAfterSwap(tokenIn, amountOut);
        require(left <= amountOut, "more than there is");
        _owe(tokenOut, int256(amountOut - left));
    }

    function _owe(address token, int256 more) private {
        int256 before = deltas[token];
        int256 then = before + more;
        if (before == 0 && then != 0) ++unsquare;
        if (before != 0 && then == 0) --unsquare;
        deltas[token] = then;
    }
}

/// A weighted pool whose tokens have equal weights.
contract BalancerV3Pool {
    uint256 private constant ONE = 1e18;

    function onSwap(uint256 amount, uint256 balanceIn, uint256 balanceOut)
        external
        pure
        returns (uint256)
    {
        uint256 base = (balanceIn * ONE + balanceIn + amount - 1) / (balanceIn + amount);
        return balanceOut * (ONE - base) / ONE;
    }
}

/// Refuses a token as payment, or keeps a tenth of what is bought with it.
contract BalancerV3Hook {
    address private immutable watched;
    bool private immutable refuses;

    constructor(address watched_, bool refuses_) {
        watched = watched_;
        refuses = refuses_;
    }

    function onAfterSwap(address tokenIn, uint256 amountOut) external view returns (uint256) {
        if (tokenIn != watched) return amountOut;
        require(!refuses, "closed");
        return amountOut - amountOut / 10;
    }
}

/// Trades for its caller in the order in which Balancer's own router does.
contract BalancerV3Router {
    BalancerV3Vault private immutable vault;

    constructor(BalancerV3Vault vault_) {
        vault = vault_;
    }

    function swapSingleTokenExactIn(address pool, address tokenIn, address tokenOut, uint256 amount)
        external
        returns (uint256)
    {
        VaultSwapParams memory order =
            VaultSwapParams(0, pool, tokenIn, tokenOut, amount, 0, "");
        bytes memory said = vault.unlock(abi.encodeCall(this.swapHook, (msg.sender, order)));
        return abi.decode(said, (uint256));
    }

    function swapHook(address sender, VaultSwapParams calldata order) external returns (uint256) {
        require(msg.sender == address(vault), "not the vault");
        (, uint256 paid, uint256 got) = vault.swap(order);
        require(IToken(order.tokenIn).transferFrom(sender, address(vault), paid), "not paid");
        vault.settle(order.tokenIn, paid);
        vault.sendTo(order.tokenOut, sender, got);
        return got;
    }
}
