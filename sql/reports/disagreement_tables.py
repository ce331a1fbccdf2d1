"""Tables of the trades that differ from a report's prediction, with their evidence."""

from collections.abc import Sequence
from typing import Final

import msgspec

from core.evm.primitives import Address, Hash32, HexBytes
from core.report.accuracy import Explanation, PredictionFlag
from core.report.disagreements import (
    Disagreement,
    due_after_s,
    explain_confirmed,
    explain_repeated,
    explained_step,
    has_passed_limit,
    is_confirmed,
)
from core.report.report import Report
from sql.engine.database import Transaction
from sql.engine.small_steps import delete_in_steps
from sql.engine.store import Readable, Store
from sql.engine.table_rows import TokenRow
from sql.reports.accuracy_counts import ADDED_UP, DAY_S
from sql.reports.report_tables import read_report
from sql.tokens.task_queue import NEW_WORTH, add_task

MOST_KEPT: Final = 5
"""Disagreements with one report that are stored with their evidence; more add no information."""


class StoredDisagreement(Disagreement, frozen=True, kw_only=True):
    """A stored disagreement."""

    disagreement_id: int


class ShownDisagreement(msgspec.Struct, frozen=True, kw_only=True):
    """A disagreement for display; see `Disagreement` for its fields."""

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


def write_disagreements(tx: Transaction, found: Sequence[Disagreement], *, now_s: int) -> None:
    """Store the first disagreements with each report, and make the analysis of their tokens due.
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
    """Settle the disagreements with earlier reports by a new report.

    A disagreement above the report's block, or without a prediction in the report, stays open.
    """
    head = report.token
    if not head.is_settled:
        return
    is_ahead = False
    for one in tx.fetch("accuracy/list_unsettled", StoredDisagreement, token_id=token.token_id):
        if one.block_number > head.block_number:
            is_ahead = True
            continue
        confirmed = is_confirmed(one, report)
        if confirmed is not None:
            explanation = _explanation(tx, one) if confirmed else explain_repeated(one, report)
            _settle(tx, one, settled_block=head.block_number, explanation=explanation)
    if is_ahead:
        add_task(tx, "changed", token=token, worth=NEW_WORTH, due_s=head.scanned_at_s)


def undo_disagreements_from(tx: Transaction, *, chain_id: int, number: int) -> None:
    """Delete the disagreements and counts of the blocks from `number` on, and reopen those that
    reports of these blocks settled."""
    where = {"chain_id": chain_id, "number": number}
    for one in tx.fetch("accuracy/list_settled_from", StoredDisagreement, **where):
        _settle(tx, one, settled_block=None, explanation=None)
    tx.execute("accuracy/delete_from", **where)
    tx.execute("accuracy/delete_counts_from", **where)


def delete_disagreements(tx: Transaction, token_id: int) -> None:
    """Delete the disagreements about a token. Its counts stay."""
    tx.execute("accuracy/delete_of_token", token_id=token_id)


def list_newest_disagreements(
    store: Readable, *, chain_id: int, at_most: int, is_counted: bool = False
) -> list[ShownDisagreement]:
    """Return the newest disagreements on a chain, newest first.

    `is_counted`: only those that are the report's own or that a later report confirmed.
    """
    return store.fetch(
        "accuracy/list_newest",
        ShownDisagreement,
        chain_id=chain_id,
        at_most=at_most,
        counted=int(is_counted),
    )


def delete_old_disagreements(store: Store, *, chain_id: int, before_s: float) -> None:
    """Delete disagreements of blocks before a time in Unix seconds, in small steps. Raises
    StoreError."""
    delete_in_steps(store, "accuracy/delete_old", chain_id=chain_id, before_s=int(before_s))


def _make_due(tx: Transaction, one: Disagreement, *, now_s: int) -> None:
    token = tx.fetch_one("tokens/find_by_id", TokenRow, token_id=one.token_id)
    last = tx.fetch_one("accuracy/find_last_settled", _Settled, token_id=one.token_id)
    due_s = due_after_s(
        None if last is None else last.explanation,
        None if last is None else last.block_time_s,
        now_s=now_s,
    )
    if token is not None:
        add_task(tx, "changed", token=token, worth=NEW_WORTH, due_s=due_s)


def _has_clock(tx: Transaction, one: Disagreement) -> bool:
    token = tx.fetch_one("tokens/find_by_id", TokenRow, token_id=one.token_id)
    if token is None:
        return False
    report = read_report(tx, chain_id=one.chain_id, address=token.address)
    return report is not None and has_passed_limit(one, report)


def _explanation(tx: Transaction, one: Disagreement) -> Explanation:
    owner_call = (
        None
        if one.has_clock
        else tx.fetch_one(
            "accuracy/find_owner_call",
            _Found,
            token_id=one.token_id,
            above=one.report_block,
            up_to=one.block_number,
        )
    )
    return explain_confirmed(one, owner_acted=owner_call is not None)


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
    step = explained_step(one.explanation, explanation)
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
