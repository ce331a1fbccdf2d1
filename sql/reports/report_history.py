"""History of reports: each settled report with its changes since the one before.

A reorg reverts the entries of its blocks; a token that is no longer tracked loses its history; old
entries are deleted by age.
"""

import msgspec

from core.process import zstd
from core.report.report import Report
from core.report.report_changes import (
    Change,
    ReportState,
    apply_changes,
    changes_between,
    state_of,
    undo_changes,
)
from core.report.verdict import ReportVerdict
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.small_steps import delete_in_steps
from sql.engine.store import Store


class HistoryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One settled report."""

    chain_id: int
    block_number: int
    token_id: int
    scanned_at_s: int
    verdict: str
    liquidity_usd: float | None
    buy_tax: float | None
    sell_tax: float | None
    changes: str | None
    """JSON of a list of Change. None: there was no report before this one."""


class HistoryStep(msgspec.Struct, frozen=True, kw_only=True):
    """One settled report, next to the one before."""

    verdict_before: str | None
    """None: there was no report before this one."""


class _State(msgspec.Struct, frozen=True, kw_only=True):
    state: bytes


class _Changes(msgspec.Struct, frozen=True, kw_only=True):
    changes: str | None


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    token_id: int
    changes: str | None


class _Block(msgspec.Struct, frozen=True, kw_only=True):
    number: int


def add_to_history(
    tx: Transaction,
    token_id: int,
    report: Report,
    report_verdict: ReportVerdict,
) -> HistoryStep | None:
    """Add a report. Returns None and adds nothing if a part of the report is still running, or if
    its block is orphaned."""
    head = report.token
    where = {"chain_id": head.chain_id, "number": head.block_number}
    if not head.is_settled or tx.fetch_one(
        "report_history/find_other_hash", _Block, hash=blob(head.block_hash), **where
    ):
        return None
    new = state_of(report, report_verdict)
    before = _read_state(tx, token_id)
    # Checks that a new release adds enter the state with this report; removed ones leave it.
    changes = [] if before is None else changes_between(before, new)
    kept = new if before is None else apply_changes({**new, **_shared(before, new)}, changes)
    entry = HistoryEntry(
        chain_id=head.chain_id,
        block_number=head.block_number,
        token_id=token_id,
        scanned_at_s=head.scanned_at_s,
        verdict=report_verdict.verdict,
        liquidity_usd=report_verdict.liquidity_usd,
        buy_tax=report_verdict.buy_tax,
        sell_tax=report_verdict.sell_tax,
        changes=None if before is None else _packed(changes),
    )
    tx.insert("report_history", [_merged(tx, entry, changes)], on_conflict="replace")
    _put_state(tx, token_id, kept)
    return HistoryStep(verdict_before=None if before is None else before["verdict"])


def find_last_verdict(tx: Transaction, token_id: int) -> str | None:
    """Return the verdict of the token's last settled report. None: there is none."""
    state = _read_state(tx, token_id)
    return None if state is None else state["verdict"]


def undo_history_from(tx: Transaction, *, chain_id: int, number: int) -> None:
    """Revert the entries of the blocks from `number` on: the next report of a token is compared
    with its last one below."""
    for entry in tx.fetch("report_history/list_from", _Entry, chain_id=chain_id, number=number):
        state = _read_state(tx, entry.token_id)
        if state is None or entry.changes is None:
            tx.execute("report_history/delete_state", token_id=entry.token_id)
        else:
            _put_state(tx, entry.token_id, undo_changes(state, _unpacked(entry.changes)))
    tx.execute("report_history/delete_from", chain_id=chain_id, number=number)


def delete_history(tx: Transaction, token_id: int) -> None:
    """Delete the history of a token."""
    tx.execute("report_history/delete_of_token", token_id=token_id)
    forget_state(tx, token_id)


def forget_state(tx: Transaction, token_id: int) -> None:
    """Delete the state that the next report of a token would be compared with."""
    tx.execute("report_history/delete_state", token_id=token_id)


def delete_old_history(store: Store, *, chain_id: int, before_s: float) -> None:
    """Delete reports made before a time in Unix seconds, in small steps. Raises StoreError."""
    delete_in_steps(store, "report_history/delete_old", chain_id=chain_id, before_s=int(before_s))


def _merged(tx: Transaction, entry: HistoryEntry, changes: list[Change]) -> HistoryEntry:
    """Merge an entry with one of the same block and second, which it replaces."""
    former = tx.fetch_one(
        "report_history/find_entry",
        _Changes,
        chain_id=entry.chain_id,
        block_number=entry.block_number,
        token_id=entry.token_id,
        scanned_at_s=entry.scanned_at_s,
    )
    if former is None:
        return entry
    both = None if former.changes is None else _packed([*_unpacked(former.changes), *changes])
    return msgspec.structs.replace(entry, changes=both)


def _shared(before: ReportState, new: ReportState) -> ReportState:
    return {what: value for what, value in before.items() if what in new}


def _read_state(tx: Transaction, token_id: int) -> ReportState | None:
    found = tx.fetch_one("report_history/find_state", _State, token_id=token_id)
    if found is None:
        return None
    text = zstd.decompress(found.state)
    return msgspec.json.decode(text, type=ReportState)


def _put_state(tx: Transaction, token_id: int, state: ReportState) -> None:
    packed = zstd.compress(msgspec.json.encode(state))
    tx.execute("report_history/put_state", token_id=token_id, state=packed)


def _packed(changes: list[Change]) -> str:
    return msgspec.json.encode(changes).decode()


def _unpacked(changes: str) -> list[Change]:
    return msgspec.json.decode(changes, type=list[Change])
