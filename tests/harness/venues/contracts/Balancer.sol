// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

interface IToken {
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

interface IPool {
    function onSwap(uint256 amount, uint256 balanceIn, uint256 balanceOut)
        external
        view
        returns (uint256);
}

struct SingleSwap {
    bytes32 poolId;
    uint8 kind;
    address assetIn;
    address assetOut;
    uint256 amount;
    bytes userData;
}

struct BatchStep {
    bytes32 poolId;
    uint256 assetInIndex;
    uint256 assetOutIndex;
    uint256 amount;
    bytes userData;
}

struct FundManagement {
    address sender;
    bool fromInternalBalance;
    address payable recipient;
    bool toInternalBalance;
}

/// A vault with the interface and the events of Balancer V2's: it holds the tokens of all pools,
/// asks a pool what a trade gives, and books what was ordered without looking at what arrived.
contract BalancerVault {
    mapping(bytes32 => address[]) private tokens;
    mapping(bytes32 => mapping(address => uint256)) private balances;
    uint80 private nonce;

    event PoolRegistered(
        bytes32 indexed poolId, address indexed poolAddress, uint8 specialization
    );
    event TokensRegistered(bytes32 indexed poolId, address[] tokens, address[] assetManagers);
    event Swap(
        bytes32 indexed poolId,
        address indexed tokenIn,
        address indexed tokenOut,
        uint256 amountIn,
        uint256 amountOut
    );

    function registerPool(uint8 specialization) external returns (bytes32 id) {
        id = bytes32((uint256(uint160(msg.sender)) << 96) | (uint256(specialization) << 80) | nonce++);
        emit PoolRegistered(id, msg.sender, specialization);
    }

    function registerTokens(bytes32 id, address[] calldata added, address[] calldata managers)
        external
    {
        require(msg.sender == address(uint160(uint256(id) >> 96)), "BAL#501");
        tokens[id] = added;
        emit TokensRegistered(id, added, managers);
    }

    function getPool(bytes32 id) external view returns (address, uint8) {
        require(tokens[id].length > 0, "BAL#500");
        return (_pool(id), uint8(uint256(id) >> 80));
    }

    function getPoolTokens(bytes32 id)
        external
        view
        returns (address[] memory all, uint256[] memory held, uint256 lastChange)
    {
        all = tokens[id];
        held = new uint256[](all.length);
        for (uint256 at = 0; at < all.length; ++at) held[at] = balances[id][all[at]];
        lastChange = block.number;
    }

    /// Stands for a join: brings liquidity of one token.
    function fill(bytes32 id, address token, uint256 amount) external {
        require(IToken(token).transferFrom(msg.sender, address(this), amount), "not paid");
        balances[id][token] += amount;
    }

    function swap(
        SingleSwap calldata order,
        FundManagement calldata funds,
        uint256 limit,
        uint256 deadline
    ) external payable returns (uint256 given) {
        require(order.kind == 0 && funds.sender == msg.sender, "BAL#503");
        require(block.timestamp <= deadline, "BAL#508");
        given = _answer(order.poolId, order.assetIn, order.assetOut, order.amount);
        require(given >= limit, "BAL#507");
        balances[order.poolId][order.assetIn] += order.amount;
        balances[order.poolId][order.assetOut] -= given;
        emit Swap(order.poolId, order.assetIn, order.assetOut, order.amount, given);
        require(
            IToken(order.assetIn).transferFrom(msg.sender, address(this), order.amount), "not paid"
        );
        require(IToken(order.assetOut).transfer(funds.recipient, given), "not given");
    }

    function queryBatchSwap(
        uint8 kind,
        BatchStep[] calldata steps,
        address[] calldata assets,
        FundManagement calldata
    ) external view returns (int256[] memory deltas) {
        require(kind == 0 && steps.length == 1, "one step is asked for");
        BatchStep calldata step = steps[0];
        (address paid, address bought) = (assets[step.assetInIndex], assets[step.assetOutIndex]);
        deltas = new int256[](assets.length);
        deltas[step.assetInIndex] = int256(step.amount);
        deltas[step.assetOutIndex] = -int256(_answer(step.poolId, paid, bought, step.amount));
    }

    function _pool(bytes32 id) private pure returns (address) {
        return address(uint160(uint256(id) >> 96));
    }

    function _answer(bytes32 id, address paid, address bought, uint256 amount)
        private
        view
        returns (uint256)
    {
        mapping(address => uint256) storage held = balances[id];
        require(held[paid] > 0 && held[bought] > 0, "BAL#521");
        return IPool(_pool(id)).onSwap(amount, held[paid], held[bought]);
    }
}

/// A weighted pool whose tokens have equal weights, so that the power in Balancer's formula is one.
contract BalancerPool {
    uint256 private constant ONE = 1e18;
    uint256 public constant getSwapFeePercentage = 3e15;
    bytes32 public getPoolId;

    constructor(BalancerVault vault, address[] memory tokens) {
        getPoolId = vault.registerPool(1);
        vault.registerTokens(getPoolId, tokens, new address[](tokens.length));
    }

    /// Names another pool's id as its own, as anybody's contract can.
    function pretend(bytes32 id) external {
        getPoolId = id;
    }

    function onSwap(uint256 amount, uint256 balanceIn, uint256 balanceOut)
        external
        pure
        returns (uint256)
    {
        uint256 paid = amount - (amount * getSwapFeePercentage + ONE - 1) / ONE;
        uint256 base = (balanceIn * ONE + balanceIn + paid - 1) / (balanceIn + paid);
        return balanceOut * (ONE - base) / ONE;
    }
}
