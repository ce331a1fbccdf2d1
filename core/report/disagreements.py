"""Trades that differ from a report's prediction, and what the next report makes of them. Pure.

A disagreement that may be due to the trader (better terms than those of fresh accounts, a failed
transaction) counts only once a report of a later block agrees with the observation.
"""

from typing import Final

import msgspec

from core.evm.primitives import Address, Hash32, HexBytes
from core.report.accuracy import (
    CHANGED,
    EXPLAINED,
    Explanation,
    PredictionFlag,
    ReportAge,
    is_near,
)
from core.report.report import ClockLimitRow, Report

_AGAIN_S: Final = 3_600
"""Seconds for which a report that has just repeated its prediction is not requested again."""


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """One trade or transfer that differs from its prediction."""

    chain_id: int
    block_number: int
    block_time_s: int
    token_id: int
    tx_hash: Hash32
    log_index: int | None
    """None: the transaction failed."""
    trader: Address | None
    pool: HexBytes | None
    """Address of the pool, or its id within the contract that holds it. None: a transfer."""
    dex: str
    """Empty: a transfer."""
    flag: PredictionFlag
    age: ReportAge
    report_block: int
    predicted: str
    """passed or refused; of a tax, percent as decimal text."""
    observed: str
    """passed or failed; of a tax, percent as decimal text."""
    is_certain: bool
    """False: it counts only if a later report agrees with the observation."""
    has_clock: bool = False
    """A moment that the code compares the clock with lay between report and trade."""
    settled_block: int | None = None
    """Block of the report that settled it. None: none has yet."""
    explanation: Explanation | None = None


def is_confirmed(one: Disagreement, report: Report) -> bool | None:
    """True if a report agrees with the observation. None: it has no such prediction."""
    if one.flag == "transfer_success":
        return report.token.transfer_success
    pools = report.pools or ()
    pool = next((each for each in pools if HexBytes(each.pool_id or each.pool) == one.pool), None)
    if pool is None:
        return None
    if one.flag in ("buy_tax", "sell_tax"):
        tax_pct = pool.buy_tax if one.flag == "buy_tax" else pool.sell_tax
        outcome = pool.buy if one.flag == "buy_tax" else pool.sell
        if outcome == "refused":
            return False
        return None if tax_pct is None else is_near(tax_pct, float(one.observed))
    outcome = pool.buy if one.flag == "buy_success" else pool.sell
    if outcome is None or outcome == "pending":
        return None
    return (outcome == "passed") == (one.observed == "passed")


def explain_confirmed(one: Disagreement, *, owner_acted: bool) -> Explanation:
    """Return why the token had changed by the time of the trade.

    `owner_acted`: the owner called the token, or it emitted an event of its parameters.
    """
    if one.has_clock:
        return "time"
    return "owner" if owner_acted else "changed"


def explain_repeated(one: Disagreement, report: Report) -> Explanation:
    """Return why a report may repeat a prediction that did not come true."""
    if one.is_certain:
        is_sale = one.flag in ("sell_success", "sell_tax")
        return "size" if is_sale and report.scan.sell_depends_on_size else "unexplained"
    if one.observed == "failed":
        return "own_limits"
    if one.flag not in ("buy_tax", "sell_tax"):
        return "exempt"
    return "bundled" if float(one.observed) > float(one.predicted) else "unseen"


def has_passed_limit(one: Disagreement, report: Report) -> bool:
    """True if a moment that the code compares the clock with lay between report and trade.

    False for a report of another block than the prediction's.
    """
    if report.token.block_number != one.report_block:
        return False
    return any(_is_between(limit, report, one) for limit in report.clock_limits)


def due_after_s(last: Explanation | None, last_time_s: int | None, *, now_s: int) -> int:
    """Return the time of the analysis that settles a new disagreement, in Unix seconds.

    An hour after the last settled one if a report repeated its prediction then, or every trade of
    an exempt trader would cost an analysis; else now. `last_time_s` is None if none was settled.
    """
    if last_time_s is None or last in CHANGED:
        return now_s
    return max(now_s, last_time_s + _AGAIN_S)


def explained_step(before: Explanation | None, after: Explanation | None) -> int:
    """Return by how much the count of explained disagreements changes: -1, 0 or 1."""
    return int(after in EXPLAINED) - int(before in EXPLAINED)


def _is_between(limit: ClockLimitRow, report: Report, one: Disagreement) -> bool:
    if limit.value is None:
        return False
    head = report.token
    by_time = head.block_time_s < limit.value <= one.block_time_s
    by_block = head.block_number < limit.value <= one.block_number
    return (by_time and limit.compared_with != "block") or (
        by_block and limit.compared_with != "timestamp"
    )
