// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IVaultPool {
    function getPoolId() external view returns (bytes32);
    function getSwapFeePercentage() external view returns (uint256);
}

struct Step {
    bytes32 poolId;
    uint256 assetInIndex;
    uint256 assetOutIndex;
    uint256 amount;
    bytes userData;
}

struct Funds {
    address sender;
    bool fromInternalBalance;
    address payable recipient;
    bool toInternalBalance;
}

interface IBalancerVault {
    function getPool(bytes32 id) external view returns (address pool, uint8 specialization);
    function getPoolTokens(bytes32 id)
        external
        view
        returns (address[] memory tokens, uint256[] memory balances, uint256 lastChange);
    function queryBatchSwap(
        uint8 kind,
        Step[] calldata steps,
        address[] calldata assets,
        Funds calldata funds
    ) external returns (int256[] memory deltas);
}

/// What the vault holds of two tokens for one pool, and what the pool would give.
struct Held {
    /// The vault's id of the pool. 0: it knows no such pool with both tokens.
    bytes32 id;
    uint256 first;
    uint256 second;
    /// Smallest units of the first token, and what the pool would give of the second for them. 0: it
    /// does not say.
    uint256 offered;
    uint256 given;
    /// The pool's fee, in parts of 10**18.
    uint256 fee;
}

/// Reads one pool of Balancer's vault, which alone says what it holds.
///
/// Put on a node's stage by a code override.
contract VaultReader {
    uint256 private constant PART = 1_000;

    function read(IBalancerVault vault, IVaultPool pool, address one, address other)
        external
        returns (Held memory held)
    {
        bytes32 id = pool.getPoolId();
        (address known,) = vault.getPool(id);
        if (known != address(pool)) return held;
        (address[] memory tokens, uint256[] memory balances,) = vault.getPoolTokens(id);
        uint256 found = 0;
        for (uint256 at = 0; at < tokens.length; ++at) {
            if (tokens[at] == one) held.first = balances[at];
            if (tokens[at] == other) held.second = balances[at];
            if (tokens[at] == one || tokens[at] == other) ++found;
        }
        if (found != 2) return held;
        held.id = id;
        held.offered = held.first / PART;
        held.given = _ask(vault, id, one, other, held.offered);
        try pool.getSwapFeePercentage() returns (uint256 fee) {
            held.fee = fee;
        } catch {}
    }

    function _ask(IBalancerVault vault, bytes32 id, address one, address other, uint256 amount)
        private
        returns (uint256)
    {
        Step[] memory steps = new Step[](1);
        steps[0] = Step(id, 0, 1, amount, "");
        address[] memory assets = new address[](2);
        (assets[0], assets[1]) = (one, other);
        Funds memory funds = Funds(address(this), false, payable(address(this)), false);
        try vault.queryBatchSwap(0, steps, assets, funds) returns (int256[] memory deltas) {
            return deltas[1] < 0 ? uint256(-deltas[1]) : 0;
        } catch {
            return 0;
        }
    }
}
