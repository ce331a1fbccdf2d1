"""Agreement of predictions with real trades, for API and page."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, Literal, get_args

import msgspec

from api.formats.resources.disputes_format import DisputeShown, show_dispute
from api.formats.shape_building import Shape
from api.formats.times import iso_utc
from core.evm.primitives import ZERO_ADDRESS, Address, HexBytes, checksum
from core.report.accuracy import Explanation, PredictionFlag, ReportAge, interval_of
from core.report.finding_outcomes import FindingOutcomes
from sql.reports.accuracy_counts import AccuracySum
from sql.reports.disagreement_tables import ShownDisagreement
from sql.reports.dispute_tables import StoredDispute

GroupKey = Literal["chain", "venue", "flag", "age"]

GROUP_KEYS: Final[tuple[GroupKey, ...]] = get_args(GroupKey)

DAYS: Final = (1, 7, 30, 90)
"""Accepted spans; each is added up once a minute at most."""


class AccuracyGroup(Shape, frozen=True, kw_only=True):
    """Observations that share what they are grouped by."""

    chain: str | None
    """Slug. null: of all chains."""
    venue: str | None
    """Exchange, empty for plain transfers. null: of all."""
    flag: PredictionFlag | None
    """The field that predicts. null: of all."""
    age: ReportAge | None
    """Age of the report: up to a minute, an hour, a day, a week, or older. null: of all."""
    observations: int
    """Trades or transfers that agree or disagree."""
    disagreements: int
    """Observations that disagree with the prediction."""
    explained: int
    """Disagreements that a later report explains: the token had changed, or its sales depend on
    their size."""
    uncounted: int
    """Observations that are not counted, as the logs can be read in more than one way."""
    disagreement_share: float | None
    """Share of disagreements, 0 to 1. null: fewer than 30 observations."""
    share_low: float | None
    """Lower bound of its 95 percent confidence interval (Wilson). null: too few."""
    share_high: float | None
    """Upper bound of that interval. null: too few."""


class AccuracyCase(Shape, frozen=True, kw_only=True):
    """One trade that disagrees with its prediction, with the evidence."""

    chain: str
    """Slug."""
    contract_address: str
    """Address of the token, with its checksum."""
    block_number: int
    """Block of the trade."""
    block_time: str
    """Its time, ISO 8601 UTC."""
    tx_hash: str
    """Hash of the transaction."""
    trader: str | None
    """Address of the trader. null: not known."""
    pool: str | None
    """Address of the pool, or its id in its manager or vault. null: a plain transfer."""
    venue: str
    """Exchange; empty for plain transfers."""
    flag: PredictionFlag
    """The field that predicted."""
    report_block: int
    """Block of the report."""
    predicted: str
    """passed or refused; of a tax, percent."""
    observed: str
    """passed or failed; of a tax, percent."""
    explanation: Explanation | None
    """Explanation by the next report: time, owner and changed, as the token had changed; size, as
    sales depend on their size; unexplained. null: there is none yet."""


class OutcomeGroup(Shape, frozen=True, kw_only=True):
    """Tokens that had the same findings before their first trade, by its first day."""

    chain: str
    """Slug."""
    findings: tuple[str, ...]
    """Keys of the checks that found something, and sell_failed, buy_failed, no_liquidity. Empty:
    nothing was found."""
    known: int
    """Tokens whose buyers tried to sell; at least 100."""
    trapped: int
    """Tokens among them that trapped at least one buyer."""
    trapped_share: float
    """Share of trapped ones, 0 to 1."""
    share_low: float | None
    """Lower bound of its 95 percent confidence interval (Wilson). null: too few."""
    share_high: float | None
    """Upper bound of that interval. null: too few."""


class AccuracyAnswer(Shape, frozen=True, kw_only=True):
    """Agreement of predictions with real trades."""

    days: int
    """Span in days, whole days of UTC."""
    groups: tuple[AccuracyGroup, ...]
    """Most observations first."""
    disagreements: tuple[AccuracyCase, ...]
    """The newest counted disagreements with their evidence, newest first; those that may be the
    trader's own, or that events cannot show, are in the view v_disagreements."""
    outcomes: tuple[OutcomeGroup, ...]
    """Outcomes by findings, of all recorded backtests whatever `days`; most tokens first. Empty:
    fewer than 100 outcomes of any findings are known."""
    disputes: tuple[DisputeShown, ...]
    """The newest disputes, newest first, whatever `days`."""


class ChainAccuracy(msgspec.Struct, frozen=True, kw_only=True):
    """Stored observations of one chain."""

    chain: str
    """Slug."""
    sums: Sequence[AccuracySum]
    newest: Sequence[ShownDisagreement]
    outcomes: Sequence[FindingOutcomes]
    disputes: Sequence[StoredDispute]


_Key = tuple[str | None, str | None, PredictionFlag | None, ReportAge | None]


def group_counts(
    chains: Iterable[ChainAccuracy], *, by: Sequence[GroupKey]
) -> tuple[AccuracyGroup, ...]:
    """Add up the counts over every dimension that is not in `by`, most observations first."""
    found: dict[_Key, list[AccuracySum]] = defaultdict(list)
    for chain in chains:
        for one in chain.sums:
            key: _Key = (
                chain.chain if "chain" in by else None,
                one.dex if "venue" in by else None,
                one.flag if "flag" in by else None,
                one.age if "age" in by else None,
            )
            found[key].append(one)
    groups = [_group(key, sums) for key, sums in found.items()]
    return tuple(sorted(groups, key=lambda one: (-one.observations, _sort_key(one))))


def list_cases(chains: Iterable[ChainAccuracy], *, at_most: int) -> tuple[AccuracyCase, ...]:
    """Return the newest disagreements of all these chains, newest first."""
    found = [(one.block_time_s, chain.chain, one) for chain in chains for one in chain.newest]
    newest = sorted(found, key=lambda each: -each[0])[:at_most]
    return tuple(_case(chain, one) for _, chain, one in newest)


def list_outcomes(chains: Iterable[ChainAccuracy], *, at_most: int) -> tuple[OutcomeGroup, ...]:
    """Return the outcomes of all these chains, most tokens first."""
    found = [_outcome(chain.chain, one) for chain in chains for one in chain.outcomes]
    return tuple(sorted(found, key=lambda one: (-one.known, one.chain, one.findings))[:at_most])


def list_disputes(chains: Iterable[ChainAccuracy], *, at_most: int) -> tuple[DisputeShown, ...]:
    """Return the newest disputes of all these chains, newest first."""
    found = [show_dispute(chain.chain, one) for chain in chains for one in chain.disputes]
    return tuple(sorted(found, key=lambda one: one.filed_at, reverse=True)[:at_most])


def _outcome(chain: str, one: FindingOutcomes) -> OutcomeGroup:
    interval = interval_of(one.trapped, one.known)
    return OutcomeGroup(
        chain=chain,
        findings=tuple(one.findings.split(",")) if one.findings else (),
        known=one.known,
        trapped=one.trapped,
        trapped_share=one.trapped / one.known,
        share_low=None if interval is None else interval.low,
        share_high=None if interval is None else interval.high,
    )


def _group(key: _Key, sums: Sequence[AccuracySum]) -> AccuracyGroup:
    chain, venue, flag, age = key
    disagreed = sum(one.disagreed for one in sums)
    total = disagreed + sum(one.agreed for one in sums)
    interval = interval_of(disagreed, total)
    return AccuracyGroup(
        chain=chain,
        venue=venue,
        flag=flag,
        age=age,
        observations=total,
        disagreements=disagreed,
        explained=sum(one.explained for one in sums),
        uncounted=sum(one.uncounted for one in sums),
        disagreement_share=None if interval is None else disagreed / total,
        share_low=None if interval is None else interval.low,
        share_high=None if interval is None else interval.high,
    )


def _sort_key(one: AccuracyGroup) -> tuple[str, ...]:
    return (one.chain or "", one.venue or "", one.flag or "", one.age or "")


def _case(chain: str, one: ShownDisagreement) -> AccuracyCase:
    return AccuracyCase(
        chain=chain,
        contract_address=checksum(one.token),
        block_number=one.block_number,
        block_time=iso_utc(one.block_time_s),
        tx_hash=one.tx_hash,
        trader=None if one.trader is None else checksum(one.trader),
        pool=None if one.pool is None else _shown_pool(one.pool),
        venue=one.dex,
        flag=one.flag,
        report_block=one.report_block,
        predicted=one.predicted,
        observed=one.observed,
        explanation=one.explanation,
    )


def _shown_pool(key: HexBytes) -> str:
    """Return an address with its checksum, an id as it is."""
    return checksum(Address(key)) if len(key) == len(ZERO_ADDRESS) else key
