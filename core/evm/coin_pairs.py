"""Ids of pairs of coins in pools of any number of coins.

Where the pool numbers its coins from 0, coins 0 and 1 are the pool itself, as in a pool of two. Any
other pair has its own id: the pool's address, then both numbers, the lower one first, in six bytes
each. Where a vault names tokens, a pair's id is the pool's address, then twelve bytes of a hash of
the vault's pool id and both tokens.
"""

from core.evm.keccak import keccak
from core.evm.primitives import Address, Hash32

FIRST_PAIR = (0, 1)
LOWER_BYTE, UPPER_BYTE = 25, 31
"""Last bytes of the two numbers in an id."""

_ADDRESS_BYTES, _HASHED_BYTES = 20, 12


def pair_id(pool: Address, one: int, other: int) -> Hash32 | None:
    """Return the id of two coins, in any order. None: the pool's address is their key."""
    lower, upper = sorted((one, other))
    return None if (lower, upper) == FIRST_PAIR else Hash32(f"{pool}{lower:012x}{upper:012x}")


def token_pair_id(vault_id: bytes, one: bytes, other: bytes) -> bytes:
    """Return the id of two tokens, in any order, of a pool in a vault.

    `vault_id`: the vault's id of the pool, whose first twenty bytes are the pool's address, and may
    be all there is.
    """
    lower, upper = sorted((one, other))
    return vault_id[:_ADDRESS_BYTES] + keccak(vault_id + lower + upper)[:_HASHED_BYTES]


def is_pair_id(pool: Address, pool_id: Hash32) -> bool:
    """True if the id names two coins of one pool, not an entry of a contract of all pools."""
    return pool_id.startswith(pool)
