"""Track record of a token, and outcomes of tokens like it, in the form that the API sends."""

from typing import Final

from api.formats.shape_building import Shape
from core.report.finding_outcomes import FindingOutcomes, outcome_sentence
from core.report.track_record import DAY_S, TrackRecord, TradeCounts


class RecordedTrades(Shape, frozen=True, kw_only=True):
    """Real trades in indexed pools. None: unknown. All are lower bounds."""

    sellers: int | None
    """Accounts that sold, each once: at most 50 new ones of a day, and 2,500 in all."""
    buyers: int | None
    """The same of accounts that bought."""
    sales: int | None
    """Sales that passed, without those of the token itself."""
    sales_failed: int | None
    """Sales that failed although a report predicted that they pass, confirmed by a later report."""
    sales_taxed_otherwise: int | None
    """Sales that passed with another tax than the report predicted."""


class TrackRecordShown(Shape, frozen=True, kw_only=True):
    """Record of real trades of a token, up to the block of its report. Unknown history is no
    history."""

    is_established: bool
    """Age, sellers and liquidity of others reach the thresholds. No sale of the last day is known
    to have failed."""
    first_seen: int | None
    """Unix seconds of the oldest proof of the token: its creation, else its oldest counted trade.
    None: not known."""
    first_seen_block: int | None
    """First block that shows the token. None: not known."""
    age_days: float | None
    """Days from first_seen to the block of the report. None: not known."""
    history_from_block: int | None
    """Block of the oldest counted trade; earlier ones are not in the figures. None: no trade is
    counted."""
    spread_sellers: int | None
    """Sellers, of each day at most the configured number, 20 unless set; decides is_established.
    None: not known."""
    total: RecordedTrades
    """All counted trades."""
    last_day: RecordedTrades
    """Trades of the 24 hours up to the block of the report."""
    powers_used: int | None
    """Acts of the owner, and events of parameters and ownership. None: the token is not watched."""
    liquidity_usd: float | None
    """USD of liquidity without that of creator, owner and the largest other account. None: not
    known."""


class OutcomesShown(Shape, frozen=True, kw_only=True):
    """Outcomes of other tokens of the chain with the same findings before their first trade.
    Backtests of this deployment recorded them."""

    known: int
    """Tokens whose buyers tried to sell within a day of the first trade; at least 100."""
    trapped: int
    """Tokens among them that trapped at least one buyer: a sale failed for good, or a trade brought
    less than half."""
    sentence: str
    """Both numbers in words."""


_DECIMALS: Final = 2


def show_record(record: TrackRecord | None) -> TrackRecordShown | None:
    """Return a record in the form that the API sends."""
    if record is None:
        return None
    return TrackRecordShown(
        is_established=record.is_established,
        first_seen=record.first_seen_s,
        first_seen_block=record.first_seen_block,
        age_days=None if record.age_s is None else round(record.age_s / DAY_S, _DECIMALS),
        history_from_block=record.history_from_block,
        spread_sellers=record.spread_sellers,
        total=_show_trades(record.whole),
        last_day=_show_trades(record.last_day),
        powers_used=record.powers_used,
        liquidity_usd=record.liquidity_usd,
    )


def show_outcomes(outcomes: FindingOutcomes | None) -> OutcomesShown | None:
    """Return the outcomes of a set of findings in the form that the API sends."""
    if outcomes is None:
        return None
    return OutcomesShown(
        known=outcomes.known,
        trapped=outcomes.trapped,
        sentence=outcome_sentence(outcomes),
    )


def _show_trades(counts: TradeCounts) -> RecordedTrades:
    return RecordedTrades(
        sellers=counts.sellers,
        buyers=counts.buyers,
        sales=counts.sales,
        sales_failed=counts.sales_failed,
        sales_taxed_otherwise=counts.sales_taxed_otherwise,
    )
