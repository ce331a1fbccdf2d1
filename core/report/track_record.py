"""Track record of a token: its age, and what happened to the people who traded it. Pure.

Everything comes from the index of real trades, apart from the liquidity. Figures are lower bounds
where the index lacks a part of the history. None: unknown, and unknown history is no history.
"""

import msgspec

from core.report.liquidity_cliff import SHOWN_FOR_S, LiquidityCliff

DAY_S = 86_400


class RecordThresholds(msgspec.Struct, frozen=True, kw_only=True):
    """Least figures of an established token."""

    age_s: int
    sellers: int
    sellers_per_day: int
    """Most sellers of one day that count towards `sellers`."""
    liquidity_usd: float


class TradeCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Real trades in the pools of the index. None: unknown."""

    sellers: int | None = None
    """Distinct accounts that sold, a lower bound: see TrackRecord."""
    buyers: int | None = None
    sales: int | None = None
    """Sales that passed, the token's own left out."""
    sales_failed: int | None = None
    """Sales that were predicted to pass and failed, once a later report predicted it too."""
    sales_taxed_otherwise: int | None = None
    """Sales that passed with another tax than predicted. Both are of the accuracy ledger, which
    keeps at most five disagreements of a report, for `indexer.history_kept_s`."""


class IndexedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a track record that the index has."""

    created_block: int | None = None
    """First block that shows the token: its creation, a launch or a pool. None: unknown."""
    first_trade_block: int | None = None
    """Block of the oldest trade that is counted. None: none is."""
    first_trade_time_s: int | None = None
    spread_sellers: int | None = None
    """Sellers, of each day at most `RecordThresholds.sellers_per_day`."""
    whole: TradeCounts = TradeCounts()
    last_day: TradeCounts = TradeCounts()
    powers_used: int | None = None
    cliff: LiquidityCliff | None = None
    """The newest one. None: none is stored."""


class TrackRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Track record of a token at its report's block.

    Distinct traders are counted by day, each once: a day counts at most fifty sellers and fifty
    buyers that no other day has counted, and all days together 2,500. Trades that may still be
    reorganised away count in `last_day` only.
    """

    first_seen_block: int | None
    """First block that shows the token. None: unknown."""
    first_seen_s: int | None
    """Unix seconds of the oldest proof of the token: its creation, else its oldest counted trade.
    None: unknown."""
    age_s: int | None
    """Seconds from `first_seen_s` to the report's block. None: unknown."""
    history_from_block: int | None
    """Block of the oldest counted trade; what happened before is not in the figures. None: no trade
    is counted."""
    spread_sellers: int | None
    """Sellers, of each day at most `thresholds.sellers_per_day`; decides `is_established`."""
    whole: TradeCounts
    """All counted trades."""
    last_day: TradeCounts
    """Trades of the 24 hours up to the report's block."""
    powers_used: int | None
    """Acts of the owner, and events of parameters and ownership, of the watched token in the index.
    None: the token is not watched."""
    liquidity_usd: float | None
    """USD that can be withdrawn neither by creator or owner nor by the largest other holder of the
    liquidity. None: unknown."""
    thresholds: RecordThresholds
    """Thresholds that were applied."""
    is_established: bool
    cliff: LiquidityCliff | None = None
    """Newest withdrawal of most of a pool, of the last `SHOWN_FOR_S`. None: none is known."""


def make_record(
    known: IndexedRecord,
    *,
    created_s: int | None,
    block_time_s: int,
    liquidity_usd: float | None,
    thresholds: RecordThresholds,
) -> TrackRecord:
    """Return the record at a block. `created_s`: time of `known.created_block`, None if unknown."""
    proofs_s = [time_s for time_s in (created_s, known.first_trade_time_s) if time_s is not None]
    first_seen_s = min(proofs_s, default=None)
    age_s = None if first_seen_s is None else max(0, block_time_s - first_seen_s)
    is_recent = known.cliff is not None and block_time_s - known.cliff.time_s <= SHOWN_FOR_S
    blocks = [at for at in (known.created_block, known.first_trade_block) if at is not None]
    return TrackRecord(
        first_seen_block=min(blocks, default=None),
        first_seen_s=first_seen_s,
        age_s=age_s,
        history_from_block=known.first_trade_block,
        spread_sellers=known.spread_sellers,
        whole=known.whole,
        last_day=known.last_day,
        powers_used=known.powers_used,
        liquidity_usd=liquidity_usd,
        thresholds=thresholds,
        is_established=has_traders(known, thresholds)
        and _reaches(age_s, thresholds.age_s)
        and _reaches(liquidity_usd, thresholds.liquidity_usd),
        cliff=known.cliff if is_recent else None,
    )


def has_traders(known: IndexedRecord, thresholds: RecordThresholds) -> bool:
    """True if enough accounts have sold on enough days, and no recent sale is known to have
    failed."""
    return _reaches(known.spread_sellers, thresholds.sellers) and not known.last_day.sales_failed


def _reaches(value: float | None, least: float) -> bool:
    """False if the value is unknown."""
    return value is not None and value >= least
