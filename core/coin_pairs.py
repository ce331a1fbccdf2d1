"""Ids of pairs of coins in pools of any number of coins, numbered from 0 by the pool.

Coins 0 and 1 are the pool itself, as in a pool of two; any other pair has an id of its own: the
pool's address, then both numbers, the lower one first, in six bytes each.
"""

from core.primitives import Address, Hash32

FIRST_PAIR = (0, 1)
LOWER_BYTE, UPPER_BYTE = 25, 31
"""Last bytes of the two numbers in an id."""


def pair_id(pool: Address, one: int, other: int) -> Hash32 | None:
    """Return the id of two coins, in any order. None: the pool's address is their key."""
    lower, upper = sorted((one, other))
    return None if (lower, upper) == FIRST_PAIR else Hash32(f"{pool}{lower:012x}{upper:012x}")


def is_pair_id(pool: Address, pool_id: Hash32) -> bool:
    """True if the id is of two coins of a pool, and not of an entry of a contract of all pools."""
    return pool_id.startswith(pool)
