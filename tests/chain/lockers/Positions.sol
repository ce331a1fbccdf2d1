// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct ModifyParams {
    int24 tickLower;
    int24 tickUpper;
    int256 liquidityDelta;
    bytes32 salt;
}

interface IManager {
    function unlock(bytes calldata data) external returns (bytes memory);
    function modifyLiquidity(PoolKey memory key, ModifyParams memory params, bytes calldata hookData)
        external
        returns (int256 delta, int256 fees);
    function sync(address currency) external;
    function settle() external payable returns (uint256);
    function take(address currency, address to, uint256 amount) external;
}

interface IToken {
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// Positions of Uniswap V4 as tokens, by the public interface of its PositionManager: the token id is
/// the salt, and a position is decreased with the actions DECREASE_LIQUIDITY and TAKE_PAIR.
contract EntryPositionManager {
    struct Kept {
        address owner;
        int24 lower;
        int24 upper;
        PoolKey key;
    }

    IManager public immutable manager;
    uint256 public nextTokenId = 1;
    mapping(uint256 => Kept) internal kept;

    constructor(IManager manager_) {
        manager = manager_;
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

    function mint(PoolKey calldata key, int24 lower, int24 upper, int256 liquidity)
        external
        payable
        returns (uint256 id)
    {
        id = nextTokenId++;
        kept[id] = Kept(msg.sender, lower, upper, key);
        manager.unlock(abi.encode(msg.sender, id, liquidity, msg.sender));
    }

    function modifyLiquidities(bytes calldata unlockData, uint256 deadline) external payable {
        require(block.timestamp <= deadline, "DEADLINE");
        (bytes memory actions, bytes[] memory params) = abi.decode(unlockData, (bytes, bytes[]));
        require(actions.length == params.length, "LENGTH");
        require(uint8(actions[actions.length - 1]) == 0x11, "NOT_TAKEN");
        (,, address receiver) = abi.decode(params[actions.length - 1], (address, address, address));
        for (uint256 at; at + 1 < actions.length; at++) {
            require(uint8(actions[at]) == 0x01, "ACTION");
            (uint256 id, uint256 liquidity,,,) =
                abi.decode(params[at], (uint256, uint256, uint128, uint128, bytes));
            require(kept[id].owner == msg.sender, "NOT_APPROVED");
            manager.unlock(abi.encode(msg.sender, id, -int256(liquidity), receiver));
        }
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        require(msg.sender == address(manager), "NOT_MANAGER");
        (address payer, uint256 id, int256 liquidity, address receiver) =
            abi.decode(data, (address, uint256, int256, address));
        Kept storage one = kept[id];
        (int256 delta,) = manager.modifyLiquidity(
            one.key, ModifyParams(one.lower, one.upper, liquidity, bytes32(id)), ""
        );
        _settle(one.key.currency0, int128(delta >> 128), payer, receiver);
        _settle(one.key.currency1, int128(delta), payer, receiver);
        return "";
    }

    function _settle(address currency, int128 delta, address payer, address receiver) internal {
        if (delta > 0) {
            manager.take(currency, receiver, uint128(delta));
            return;
        }
        uint256 owed = uint128(-delta);
        if (owed == 0) return;
        if (currency == address(0)) {
            manager.settle{value: owed}();
            return;
        }
        manager.sync(currency);
        IToken(currency).transferFrom(payer, address(manager), owed);
        manager.settle();
    }
}
