"""The reader of a locker's locks, by how its records are kept and what it holds."""

from analysis.liquidity.holdings import LiquidityHolding
from analysis.liquidity.locks import LockReads
from analysis.liquidity.pool_history import PoolSpan
from analysis.liquidity.position_locks import PermanentLocks, UncxPositionLocks
from analysis.liquidity.token_locks import (
    PinkLockTokenLocks,
    TeamFinanceTokenLocks,
    UncxTokenLocks,
)
from analysis.market.venues.venue_registry import venue_of
from config.chains import LockRecords


def lock_reads(
    records: LockRecords | None, span: PoolSpan, holding: LiquidityHolding
) -> LockReads | None:
    """Return the reads of what a locker holds of a pool. None: when that becomes free is not
    read."""
    locker, pool = holding.holder, span.pool
    match records, venue_of(pool.dex).liquidity_form(pool.dex):
        case "uncx_v2", "lp_tokens":
            return UncxTokenLocks(locker, pool.pool)
        case "pinklock", "lp_tokens":
            return PinkLockTokenLocks(locker, pool.pool)
        case "team_finance", "lp_tokens":
            return TeamFinanceTokenLocks(span, locker)
        case "uncx_v3", "minted_positions":
            return UncxPositionLocks(span, holding)
        case "never_released", "minted_positions" | "entry_positions":
            return PermanentLocks(holding)
        case _:
            return None
