// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

interface IMemberVault {
    function registerPool(uint8 specialization) external returns (bytes32);
    function registerTokens(bytes32 id, address[] calldata tokens, address[] calldata managers)
        external;
}

struct SwapRequest {
    uint8 kind;
    address tokenIn;
    address tokenOut;
    uint256 amount;
    bytes32 poolId;
    uint256 lastChangeBlock;
    address from;
    address to;
    bytes userData;
}

/// A pool that Balancer's own vault calls (IBasePool, IMinimalSwapInfoPool), of tokens with equal
/// weights.
contract BalancerMember {
    uint256 private constant ONE = 1e18;
    uint8 private constant MINIMAL_SWAP_INFO = 1;
    uint256 public constant getSwapFeePercentage = 3e15;

    address private immutable vault;
    bytes32 public getPoolId;

    constructor(IMemberVault vault_, address[] memory tokens) {
        vault = address(vault_);
        getPoolId = vault_.registerPool(MINIMAL_SWAP_INFO);
        vault_.registerTokens(getPoolId, tokens, new address[](tokens.length));
    }

    /// Takes the amounts that whoever joins names.
    function onJoinPool(
        bytes32,
        address,
        address,
        uint256[] calldata balances,
        uint256,
        uint256,
        bytes calldata named
    ) external view returns (uint256[] memory amountsIn, uint256[] memory dueFees) {
        require(msg.sender == vault, "not the vault");
        (amountsIn, dueFees) = (abi.decode(named, (uint256[])), new uint256[](balances.length));
    }

    function onSwap(SwapRequest calldata order, uint256 balanceIn, uint256 balanceOut)
        external
        view
        returns (uint256)
    {
        require(msg.sender == vault && order.kind == 0, "not an order of the vault");
        uint256 paid = order.amount - (order.amount * getSwapFeePercentage + ONE - 1) / ONE;
        uint256 base = (balanceIn * ONE + balanceIn + paid - 1) / (balanceIn + paid);
        return balanceOut * (ONE - base) / ONE;
    }
}
