"""Trades that came out otherwise than a report predicted, with their evidence, and what the next
report makes of them.

A disagreement that may be the trader's own (better terms than those of fresh accounts, a failed
transaction) is counted only once a report of a later block says what was observed.
"""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from core.evm.primitives import Address, Hash32, HexBytes
from core.report.accuracy import CHANGED, EXPLAINED, Explanation, PredictionFlag, ReportAge, is_near
from core.report.report import ClockLimitRow, Report, ReportRow
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.store import Readable, Store
from sql.engine.table_rows import TokenRow
from sql.reports.accuracy_counts import ADDED_UP, DAY_S
from sql.reports.report_bodies import decode_body
from sql.tokens.task_queue import NEW_WORTH, add_task

MOST_KEPT: Final = 5
"""Disagreements with one report that are kept with their evidence; more say nothing new."""

_AGAIN_S: Final = 3_600
"""Seconds for which a report that has just repeated its prediction is not asked for again."""

_DELETED_AT_ONCE: Final = 1_000

Observed = Literal["passed", "failed"]


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """One trade or transfer that came out otherwise than predicted."""

    chain_id: int
    block_number: int
    block_time_s: int
    token_id: int
    tx_hash: Hash32
    log_index: int | None
    """None: the transaction failed."""
    trader: Address | None
    pool: HexBytes | None
    """Its address, or its id in the contract that has it. None: a transfer."""
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
    """False: it counts only if a later report says what was observed."""
    has_clock: bool = False
    """A moment that the code compares the clock with lay between report and trade."""
    settled_block: int | None = None
    """Block of the report that settled it. None: none has yet."""
    explanation: Explanation | None = None


class StoredDisagreement(Disagreement, frozen=True, kw_only=True):
    """A disagreement as it was written down."""

    disagreement_id: int


class ShownDisagreement(msgspec.Struct, frozen=True, kw_only=True):
    """A disagreement for people, with fields as there."""

    disagreement_id: int
    token: Address
    block_number: int
    block_time_s: int
    tx_hash: Hash32
    trader: Address | None
    pool: HexBytes | None
    dex: str
    flag: PredictionFlag
    report_block: int
    predicted: str
    observed: str
    is_certain: bool
    explanation: Explanation | None


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    kept: int


class _Settled(msgspec.Struct, frozen=True, kw_only=True):
    block_time_s: int
    explanation: Explanation | None


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    block_number: int


class _ReportBody(msgspec.Struct, frozen=True, kw_only=True):
    body: bytes


def write_disagreements(tx: Transaction, found: Sequence[Disagreement], *, now_s: int) -> None:
    """Store disagreements, the first of each report, and make the analysis of their tokens due.
    Raises StoreError."""
    kept: dict[int, int] = {}
    for one in found:
        if one.token_id not in kept:
            row = tx.fetch_one(
                "accuracy/count_kept", _Kept, token_id=one.token_id, above=one.report_block
            )
            kept[one.token_id] = row.kept if row else 0
            _make_due(tx, one, now_s=now_s)
        if kept[one.token_id] < MOST_KEPT:
            kept[one.token_id] += 1
            clocked = msgspec.structs.replace(one, has_clock=_has_clock(tx, one))
            tx.insert("disagreement", [clocked])


def settle_disagreements(tx: Transaction, token: TokenRow, report: Report) -> None:
    """Hold a new report against the disagreements with those before it.

    One of a block above the report's, or of which the report says nothing, stays as it is.
    """
    head = report.token
    if not head.is_settled:
        return
    is_ahead = False
    for one in tx.fetch("accuracy/list_unsettled", StoredDisagreement, token_id=token.token_id):
        if one.block_number > head.block_number:
            is_ahead = True
            continue
        says = _says(one, report)
        if says is not None:
            explanation = _explanation(tx, one) if says else _own(one, report)
            _settle(tx, one, settled_block=head.block_number, explanation=explanation)
    if is_ahead:
        add_task(tx, "changed", token=token, worth=NEW_WORTH, due_s=head.scanned_at_s)


def undo_disagreements_from(tx: Transaction, *, chain_id: int, number: int) -> None:
    """Take back the disagreements of the blocks from `number` on, what reports of those blocks made
    of others, and the counts."""
    where = {"chain_id": chain_id, "number": number}
    for one in tx.fetch("accuracy/list_settled_from", StoredDisagreement, **where):
        _settle(tx, one, settled_block=None, explanation=None)
    tx.execute("accuracy/delete_from", **where)
    tx.execute("accuracy/delete_counts_from", **where)


def delete_disagreements(tx: Transaction, token_id: int) -> None:
    """Delete the disagreements of a token. Its counts stay."""
    tx.execute("accuracy/delete_of_token", token_id=token_id)


def newest_disagreements(
    store: Readable, *, chain_id: int, at_most: int
) -> list[ShownDisagreement]:
    """Return the newest disagreements on a chain, newest first."""
    return store.fetch(
        "accuracy/list_newest", ShownDisagreement, chain_id=chain_id, at_most=at_most
    )


def delete_old_disagreements(store: Store, *, chain_id: int, before_s: float) -> None:
    """Delete disagreements of blocks before a time in Unix seconds, in small steps. Raises
    StoreError."""
    deleted = _DELETED_AT_ONCE
    while deleted == _DELETED_AT_ONCE:
        with store.transaction(chain_id=chain_id) as tx:
            deleted = tx.execute(
                "accuracy/delete_old",
                chain_id=chain_id,
                before_s=int(before_s),
                at_most=_DELETED_AT_ONCE,
            )


def _make_due(tx: Transaction, one: Disagreement, *, now_s: int) -> None:
    """Make the analysis due at once; an hour later where a report has just repeated what it said,
    or every trade of an exempt trader would cost an analysis."""
    token = tx.fetch_one("tokens/find_by_id", TokenRow, token_id=one.token_id)
    last = tx.fetch_one("accuracy/find_last_settled", _Settled, token_id=one.token_id)
    is_repeated = last is not None and last.explanation not in CHANGED
    after_s = last.block_time_s + _AGAIN_S if last is not None and is_repeated else now_s
    if token is not None:
        add_task(tx, "changed", token=token, worth=NEW_WORTH, due_s=max(now_s, after_s))


def _has_clock(tx: Transaction, one: Disagreement) -> bool:
    """True if a moment that the code compares the clock with lay between report and trade."""
    token = tx.fetch_one("tokens/find_by_id", TokenRow, token_id=one.token_id)
    if token is None:
        return False
    found = tx.fetch_one(
        "reports/find_body", _ReportBody, chain_id=one.chain_id, address=blob(token.address)
    )
    report = None if found is None else decode_body(found.body)
    if report is None or report.token.block_number != one.report_block:
        return False
    return any(_passed(limit, report.token, one) for limit in report.clock_limits)


def _passed(limit: ClockLimitRow, head: ReportRow, one: Disagreement) -> bool:
    if limit.value is None:
        return False
    by_time = head.block_time_s < limit.value <= one.block_time_s
    by_block = head.block_number < limit.value <= one.block_number
    return (by_time and limit.compared_with != "block") or (
        by_block and limit.compared_with != "timestamp"
    )


def _says(one: Disagreement, report: Report) -> bool | None:
    """Return whether a report says what was observed. None: it does not say."""
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


def _explanation(tx: Transaction, one: Disagreement) -> Explanation:
    """Return why a token was another one by the time of the trade."""
    if one.has_clock:
        return "time"
    called = tx.fetch_one(
        "accuracy/find_owner_call",
        _Found,
        token_id=one.token_id,
        above=one.report_block,
        up_to=one.block_number,
    )
    return "changed" if called is None else "owner"


def _own(one: Disagreement, report: Report) -> Explanation:
    """Return why a report may repeat a prediction that did not come true."""
    if one.is_certain:
        is_sale = one.flag in ("sell_success", "sell_tax")
        return "size" if is_sale and report.scan.sell_depends_on_size else "unexplained"
    if one.observed == "failed":
        return "own_limits"
    is_tax = one.flag in ("buy_tax", "sell_tax")
    return "bundled" if is_tax and float(one.observed) > float(one.predicted) else "exempt"


def _settle(
    tx: Transaction,
    one: StoredDisagreement,
    *,
    settled_block: int | None,
    explanation: Explanation | None,
) -> None:
    tx.execute(
        "accuracy/settle",
        disagreement_id=one.disagreement_id,
        settled_block=settled_block,
        explanation=explanation,
    )
    before, after = one.explanation in EXPLAINED, explanation in EXPLAINED
    step = int(after) - int(before)
    if not step:
        return
    for block_number in (one.block_number, ADDED_UP):
        moved = tx.execute(
            "accuracy/move_count",
            chain_id=one.chain_id,
            day_s=one.block_time_s - one.block_time_s % DAY_S,
            block_number=block_number,
            dex=one.dex,
            flag=one.flag,
            age=one.age,
            disagreed=0 if one.is_certain else step,
            explained=step,
        )
        if moved:
            return
