"""The reader of a locker's locks, by how its records are kept and what it holds."""

from analysis.liquidity.holdings import LiquidityHolding
from analysis.liquidity.locks import LockReads
from analysis.liquidity.position_locks import KeptPositions, UncxPositionLocks
from analysis.liquidity.token_locks import PinkLocks, TeamFinanceLocks, UncxTokenLocks
from analysis.market.venues.pool import Candidate
from analysis.market.venues.venue_registry import venue_of
from config.chains import LockRecords


def lock_reads(
    records: LockRecords | None,
    pool: Candidate,
    holding: LiquidityHolding,
    *,
    from_block: int | None,
    to_block: int,
) -> LockReads | None:
    """Return the reads of what a locker holds of a pool. `from_block`: as of `history_query`. None:
    when that becomes free is not read."""
    locker, form = holding.holder, venue_of(pool.dex).liquidity_form(pool.dex)
    match records, form:
        case "uncx_v2", "lp_tokens":
            return UncxTokenLocks(locker, pool.pool)
        case "pinklock", "lp_tokens":
            return PinkLocks(locker, pool.pool)
        case "team_finance", "lp_tokens":
            return TeamFinanceLocks(locker, pool, from_block=from_block, to_block=to_block)
        case "uncx_v3", "minted_positions":
            return UncxPositionLocks(
                locker, pool, holding, from_block=from_block, to_block=to_block
            )
        case "never_released", "minted_positions" | "entry_positions":
            return KeptPositions(holding)
        case _:
            return None
