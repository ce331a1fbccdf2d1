// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {BinTokens} from "BinTokens.sol";
import {InfinityVault, PoolKey, square} from "Infinity.sol";
import {BurnParams, InfinityBinManager, MintParams, spread} from "InfinityBin.sol";

/// Shares of bins as tokens, by the public interface of Infinity's BinPositionManager: a token's id is
/// the hash of pool and bin, and shares are burnt with BIN_REMOVE_LIQUIDITY and TAKE_PAIR.
contract InfinityBinPositionManager is BinTokens {
    struct RemoveParams {
        PoolKey poolKey;
        uint128 amount0Min;
        uint128 amount1Min;
        uint256[] ids;
        uint256[] amounts;
        address from;
        bytes hookData;
    }

    struct Order {
        address payer;
        address receiver;
        PoolKey key;
        bool isMint;
        bytes params;
    }

    InfinityVault public immutable vault;

    constructor(InfinityVault vault_) {
        vault = vault_;
    }

    receive() external payable {}

    /// Puts equal parts into bins on both sides of the price, in the name of `to`. `amounts`: of the
    /// first token in the lower half of the word, of the second in the upper one.
    function mint(PoolKey calldata key, uint24 count, uint24 gap, bytes32 amounts, address to)
        external
        payable
    {
        InfinityBinManager manager = InfinityBinManager(key.poolManager);
        (uint24 active,,) = manager.getSlot0(keccak256(abi.encode(key)));
        MintParams memory params = MintParams(spread(active, 0, count, gap), amounts, 0);
        vault.lock(abi.encode(Order(msg.sender, to, key, true, abi.encode(params))));
        (bool ok,) = msg.sender.call{value: address(this).balance}("");
        require(ok, "coins not taken");
    }

    function modifyLiquidities(bytes calldata payload, uint256 deadline) external payable {
        require(block.timestamp <= deadline, "DeadlinePassed");
        (bytes memory actions, bytes[] memory params) = abi.decode(payload, (bytes, bytes[]));
        require(actions.length == 2 && params.length == 2, "InputLengthMismatch");
        require(uint8(actions[0]) == 0x1a && uint8(actions[1]) == 0x11, "UnsupportedAction");
        (,, address receiver) = abi.decode(params[1], (address, address, address));
        RemoveParams memory removed = abi.decode(params[0], (RemoveParams));
        require(removed.from == msg.sender, "BinFungibleToken_SpenderNotApproved");
        vault.lock(abi.encode(Order(msg.sender, receiver, removed.poolKey, false, params[0])));
    }

    function lockAcquired(bytes calldata data) external returns (bytes memory) {
        require(msg.sender == address(vault), "NotVault");
        Order memory order = abi.decode(data, (Order));
        int256 delta = order.isMint ? _mint(order) : _burn(order);
        square(vault, order.key.currency0, int128(delta >> 128), order.payer, order.receiver);
        square(vault, order.key.currency1, int128(delta), order.payer, order.receiver);
        return "";
    }

    function _mint(Order memory order) private returns (int256 delta) {
        MintParams memory params = abi.decode(order.params, (MintParams));
        InfinityBinManager.Added memory added;
        InfinityBinManager manager = InfinityBinManager(order.key.poolManager);
        (delta, added) = manager.mint(order.key, params, "");
        bytes32 pool = keccak256(abi.encode(order.key));
        for (uint256 at = 0; at < added.ids.length; ++at) {
            added.ids[at] = uint256(keccak256(abi.encode(pool, added.ids[at])));
            balanceOf[order.receiver][added.ids[at]] += added.liquidityMinted[at];
            totalSupply[added.ids[at]] += added.liquidityMinted[at];
        }
        emit TransferBatch(
            order.payer, address(0), order.receiver, added.ids, added.liquidityMinted
        );
    }

    function _burn(Order memory order) private returns (int256 delta) {
        RemoveParams memory params = abi.decode(order.params, (RemoveParams));
        BurnParams memory burnt = BurnParams(params.ids, params.amounts, 0);
        delta =
            InfinityBinManager(order.key.poolManager).burn(order.key, burnt, params.hookData);
        bytes32 pool = keccak256(abi.encode(order.key));
        uint256[] memory tokens = new uint256[](params.ids.length);
        for (uint256 at = 0; at < params.ids.length; ++at) {
            tokens[at] = uint256(keccak256(abi.encode(pool, params.ids[at])));
            balanceOf[params.from][tokens[at]] -= params.amounts[at];
            totalSupply[tokens[at]] -= params.amounts[at];
        }
        emit TransferBatch(order.payer, params.from, address(0), tokens, params.amounts);
    }
}
