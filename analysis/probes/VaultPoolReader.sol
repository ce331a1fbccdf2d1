// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

struct Order {
    uint8 kind;
    address pool;
    address tokenIn;
    address tokenOut;
    uint256 amount;
    uint256 limit;
    bytes userData;
}

struct TokenInfo {
    uint8 tokenType;
    address rateProvider;
    bool paysYieldFees;
}

interface IBalancerVault {
    function getPoolTokenInfo(address pool)
        external
        view
        returns (
            address[] memory tokens,
            TokenInfo[] memory infos,
            uint256[] memory balances,
            uint256[] memory lastLive
        );
    function getStaticSwapFeePercentage(address pool) external view returns (uint256);
    function unlock(bytes calldata data) external returns (bytes memory);
    function swap(Order calldata order)
        external
        returns (uint256 calculated, uint256 paid, uint256 got);
}

/// What the vault holds of two tokens for one pool, and what the pool would give.
struct Held {
    /// The pool's address. 0: the vault knows no such pool with both tokens.
    uint256 pool;
    uint256 first;
    uint256 second;
    /// Smallest units of the first token, and what the pool would give of the second for them. 0: it
    /// does not say.
    uint256 offered;
    uint256 given;
    /// The pool's fee, in parts of 10**18.
    uint256 fee;
}

/// Reads one pool of Balancer V3's vault, which alone says what it holds.
///
/// Put on a node's stage by a code override.
contract VaultPoolReader {
    uint256 private constant PART = 1_000;

    function read(IBalancerVault vault, address pool, address one, address other)
        external
        returns (Held memory held)
    {
        try vault.getPoolTokenInfo(pool) returns (
            address[] memory tokens, TokenInfo[] memory, uint256[] memory balances, uint256[] memory
        ) {
            uint256 found = 0;
            for (uint256 at = 0; at < tokens.length; ++at) {
                if (tokens[at] == one) held.first = balances[at];
                if (tokens[at] == other) held.second = balances[at];
                if (tokens[at] == one || tokens[at] == other) ++found;
            }
            if (found != 2) return Held(0, 0, 0, 0, 0, 0);
        } catch {
            return held;
        }
        held.pool = uint160(pool);
        held.offered = held.first / PART;
        held.given = _ask(vault, Order(0, pool, one, other, held.offered, 0, ""));
        try vault.getStaticSwapFeePercentage(pool) returns (uint256 fee) {
            held.fee = fee;
        } catch {}
    }

    /// Nobody pays: the swap is undone, and what it gave is told by the revert.
    function _ask(IBalancerVault vault, Order memory order) private returns (uint256 given) {
        try vault.unlock(abi.encodeCall(this.undo, (vault, order))) {
            return 0;
        } catch (bytes memory said) {
            return said.length == 32 ? abi.decode(said, (uint256)) : 0;
        }
    }

    function undo(IBalancerVault vault, Order calldata order) external {
        (,, uint256 given) = vault.swap(order);
        assembly ("memory-safe") {
            mstore(0, given)
            revert(0, 0x20)
        }
    }
}
