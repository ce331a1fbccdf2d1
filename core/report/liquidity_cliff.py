"""Liquidity cliff: one withdrawal that took more than half of a pool's tokens. Pure."""

from typing import Final, TypeGuard

import msgspec

from core.evm.primitives import Hash32, HexBytes

CLIFF_PCT: Final = 50.0
"""Percent of a pool's tokens above which a withdrawal is a cliff."""

SHOWN_FOR_S: Final = 30 * 86_400
"""Age in seconds up to which a report names a cliff."""


def is_cliff(left_pct: float | None) -> TypeGuard[float]:
    """True for a known share above CLIFF_PCT."""
    return left_pct is not None and left_pct > CLIFF_PCT


class LiquidityCliff(msgspec.Struct, frozen=True, kw_only=True):
    """One withdrawal above CLIFF_PCT."""

    pool: HexBytes
    """Address of the pool."""
    source: str
    """Its exchange."""
    block_number: int
    log_index: int
    time_s: int
    """Time of the block, Unix seconds."""
    tx_hash: Hash32 | None
    """None: the node sent none."""
    left_pct: float
    """Percent of the pool's tokens at the end of the block before. What came in within the block
    is subtracted."""
