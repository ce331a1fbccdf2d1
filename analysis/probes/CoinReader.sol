// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface ICoinPool {
    function balances(uint256 coin) external view returns (uint256);
    function fee() external view returns (uint256);
}

/// What one pool of Curve's holds of two of its coins, and what it would give.
struct Coins {
    /// False: the factory knows no pool here with both coins.
    bool isPool;
    /// Numbers of the two coins in the pool.
    uint256 first;
    uint256 second;
    uint256 firstBalance;
    uint256 secondBalance;
    /// Smallest units of the first coin, and what the pool would give of the second for them. 0: it
    /// does not say.
    uint256 offered;
    uint256 given;
    /// The pool's fee, in parts of 10**10.
    uint256 fee;
}

/// Reads one pool that a factory of Curve's says to have made.
///
/// Put on a node's stage by a code override. The factory says what the coins are: its list has a
/// place for each that the pool can have, or a length in front.
contract CoinReader {
    uint256 private constant PART = 1_000;
    uint256 private constant NONE = type(uint256).max;
    uint256 private constant WORD = 32;

    function read(address pool, address factory, address one, address other, bytes4 quote)
        external
        view
        returns (Coins memory coins)
    {
        (bool ok, bytes memory list) =
            factory.staticcall(abi.encodeWithSignature("get_coins(address)", pool));
        if (!ok) return coins;
        coins.first = _find(list, one);
        coins.second = _find(list, other);
        if (coins.first == NONE || coins.second == NONE) return coins;
        coins.isPool = true;
        coins.firstBalance = ICoinPool(pool).balances(coins.first);
        coins.secondBalance = ICoinPool(pool).balances(coins.second);
        coins.fee = ICoinPool(pool).fee();
        coins.offered = coins.firstBalance / PART;
        (bool quoted, bytes memory said) = pool.staticcall(
            abi.encodeWithSelector(quote, coins.first, coins.second, coins.offered)
        );
        if (quoted && said.length == WORD) coins.given = abi.decode(said, (uint256));
    }

    function _find(bytes memory list, address coin) private pure returns (uint256) {
        uint256 start = _word(list, 0) == WORD ? 2 : 0;
        uint256 count = list.length / WORD;
        for (uint256 at = start; at < count; ++at) {
            if (_word(list, at) == uint160(coin)) return at - start;
        }
        return NONE;
    }

    function _word(bytes memory list, uint256 at) private pure returns (uint256 word) {
        if (list.length < (at + 1) * WORD) return 0;
        assembly ("memory-safe") {
            word := mload(add(list, mul(add(at, 1), 0x20)))
        }
    }
}
