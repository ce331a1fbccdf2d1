// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {BalanceDelta} from "@uniswap/v4-core/src/types/BalanceDelta.sol";
import {InfinityManager, InfinityVault, LiquidityParams, PoolKey, square} from "Infinity.sol";

/// Positions of Infinity (CL) as tokens, by the public interface of its CLPositionManager: the token
/// id is the salt, and a position is decreased with CL_DECREASE_LIQUIDITY and TAKE_PAIR.
contract InfinityPositionManager {
    struct Kept {
        address owner;
        int24 outermost;
        PoolKey key;
    }

    struct Change {
        address payer;
        address receiver;
        uint256 id;
        int256 liquidity;
    }

    InfinityVault public immutable vault;
    uint256 public nextTokenId = 1;
    mapping(uint256 => Kept) private kept;

    constructor(InfinityVault vault_) {
        vault = vault_;
    }

    receive() external payable {}

    function ownerOf(uint256 id) external view returns (address owner) {
        owner = kept[id].owner;
        require(owner != address(0), "NOT_MINTED");
    }

    function transferFrom(address from, address to, uint256 id) external {
        require(kept[id].owner == from && msg.sender == from, "NOT_OWNER");
        kept[id].owner = to;
    }

    function mint(InfinityManager manager, bytes32 pool, int24 outermost, int256 liquidity)
        external
        payable
        returns (uint256 id)
    {
        (address first, address second, address hooks, address at, uint24 fee, bytes32 parameters) =
            manager.poolIdToPoolKey(pool);
        id = nextTokenId++;
        kept[id] =
            Kept(msg.sender, outermost, PoolKey(first, second, hooks, at, fee, parameters));
        vault.lock(abi.encode(Change(msg.sender, msg.sender, id, liquidity)));
    }

    function modifyLiquidities(bytes calldata payload, uint256 deadline) external payable {
        require(block.timestamp <= deadline, "DeadlinePassed");
        (bytes memory actions, bytes[] memory params) = abi.decode(payload, (bytes, bytes[]));
        require(actions.length == params.length, "InputLengthMismatch");
        uint256 last = actions.length - 1;
        require(uint8(actions[last]) == 0x11, "not taken");
        (,, address receiver) = abi.decode(params[last], (address, address, address));
        for (uint256 at = 0; at < last; ++at) {
            require(uint8(actions[at]) == 0x01, "UnsupportedAction");
            (uint256 id, uint256 liquidity,,,) =
                abi.decode(params[at], (uint256, uint256, uint128, uint128, bytes));
            require(kept[id].owner == msg.sender, "NotApproved");
            vault.lock(abi.encode(Change(msg.sender, receiver, id, -int256(liquidity))));
        }
    }

    function lockAcquired(bytes calldata data) external returns (bytes memory) {
        require(msg.sender == address(vault), "NotVault");
        Change memory change = abi.decode(data, (Change));
        Kept memory one = kept[change.id];
        LiquidityParams memory params = LiquidityParams(
            -one.outermost, one.outermost, change.liquidity, bytes32(change.id)
        );
        (BalanceDelta delta,) =
            InfinityManager(one.key.poolManager).modifyLiquidity(one.key, params, "");
        square(vault, one.key.currency0, delta.amount0(), change.payer, change.receiver);
        square(vault, one.key.currency1, delta.amount1(), change.payer, change.receiver);
        return "";
    }
}
