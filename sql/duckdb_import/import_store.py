"""Takes an old store over, table by table in chunks, each with its progress in one transaction.

Stopped anywhere, the next run goes on after the last chunk. Transfers are finalized as they come:
balances and final rows end up where they would be had this release followed the chain.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from core.primitives import RawAmount
from sql.columns import blob
from sql.database import Transaction
from sql.duckdb_import.old_store import Cells, OldStore
from sql.finalization import finalize_rows
from sql.history_tables import write_history
from sql.pool_tables import find_pools, insert_pools
from sql.reports import NextRefresh, write_report
from sql.rows import (
    BlockRow,
    CheckpointRow,
    CoverageRow,
    CreatorRow,
    HistoryRow,
    LaunchRow,
    PoolRow,
    RefusalRow,
    TransferRow,
    UndecodedRow,
)
from sql.store import Store
from sql.task_queue import NEW_WORTH
from sql.transfer_tables import insert_transfers

_CHUNK: Final = 20_000
"""Rows of one transaction."""

_REPORTS_AT_ONCE: Final = 200

_FINALIZED_EVERY: Final = 10
"""Chunks of transfers between two turns of finalization."""

_REFRESH_AFTER_S: Final = 86_400

T = TypeVar("T", bound=msgspec.Struct)

_Write = Callable[[Transaction, Sequence[Cells]], object]

ShowProgress = Callable[[str, int, int], None]
"""Receives the name of a step, its rows done and its rows in all."""


class _Done(msgspec.Struct, frozen=True, kw_only=True):
    done: int


class _Step(msgspec.Struct, frozen=True, kw_only=True):
    """One table of the old store."""

    table: str
    query: str
    write: _Write


def import_store(path: Path, store: Store, show: ShowProgress) -> None:
    """Take the DuckDB file at a path over into an open store. Raises StoreError.

    The file itself is only brought to its own last schema.
    """
    old = OldStore(path)
    try:
        _Import(old, store, show).run()
    finally:
        old.close()


class _Import:
    def __init__(self, old: OldStore, store: Store, show: ShowProgress) -> None:
        self._old = old
        self._store = store
        self._show = show
        self._final = old.final_blocks()

    def run(self) -> None:
        """Take over what has not been yet."""
        for step in _STEPS:
            self._copy(step)
        self._copy_reports()
        self._copy_transfers()

    def _copy(self, step: _Step, *, after_each: Callable[[int], None] | None = None) -> None:
        last = self._old.last_rowid(step.table)
        done = self._done(step.query)
        chunks = 0
        while done < last:
            up_to = min(done + _CHUNK, last)
            rows = self._old.rows(step.query, above=done, up_to=up_to)
            with self._store.transaction() as tx:
                step.write(tx, rows)
                tx.execute("imports/put_progress", step=step.query, done=up_to)
            done = up_to
            chunks += 1
            if after_each is not None:
                after_each(chunks)
            self._show(step.table, done + 1, last + 1)

    def _copy_reports(self) -> None:
        """Take reports over, each in its own transaction: writing one twice changes nothing."""
        last, done = self._old.last_rowid("report"), self._done("list_reports")
        while done < last:
            up_to = min(done + _REPORTS_AT_ONCE, last)
            for _, token_id in self._old.rows("list_reports", above=done, up_to=up_to):
                found = self._old.report(token_id)
                if found is not None:
                    due_s = found.token.scanned_at_s + _REFRESH_AFTER_S
                    write_report(self._store, found, NextRefresh(worth=0, due_s=due_s))
            with self._store.transaction() as tx:
                tx.execute("imports/put_progress", step="list_reports", done=up_to)
            done = up_to
            self._show("report", done + 1, last + 1)

    def _copy_transfers(self) -> None:
        addresses = _Dictionary(self._old)

        def write(tx: Transaction, rows: Sequence[Cells]) -> None:
            by_chain: dict[int, list[TransferRow]] = {}
            for cells in rows:
                by_chain.setdefault(cells[1], []).append(_transfer(cells, addresses))
            for chain_id, transfers in by_chain.items():
                insert_transfers(tx, transfers, chain_id=chain_id)

        def finalize(chunks: int) -> None:
            if chunks % _FINALIZED_EVERY == 0:
                self._finalize()

        step = _Step(table="transfer", query="list_transfers", write=write)
        self._copy(step, after_each=finalize)
        self._finalize()

    def _finalize(self) -> None:
        for chain_id, final in self._final.items():
            while finalize_rows(self._store, chain_id=chain_id, final=final):
                pass

    def _done(self, step: str) -> int:
        found = self._store.fetch_one("imports/find_progress", _Done, step=step)
        return -1 if found is None else found.done


class _Dictionary:
    """The addresses of the old store by number, in memory: twenty bytes each."""

    def __init__(self, old: OldStore) -> None:
        last = old.last_rowid("address")
        self._bytes = bytearray()
        for above in range(-1, last, _CHUNK):
            for _, number, address in old.rows(
                "list_addresses", above=above, up_to=min(above + _CHUNK, last)
            ):
                end = 20 * (number + 1)
                if len(self._bytes) < end:
                    self._bytes.extend(bytes(end - len(self._bytes)))
                self._bytes[end - 20 : end] = blob(address)

    def __getitem__(self, number: int) -> bytes:
        return bytes(self._bytes[20 * number : 20 * number + 20])


def _transfer(cells: Cells, addresses: _Dictionary) -> TransferRow:
    _, _, block_number, log_index, token_id, sender_id, recipient_id, *words = cells
    return TransferRow(
        block_number=block_number,
        log_index=log_index,
        token_id=token_id,
        sender=addresses[sender_id],
        recipient=addresses[recipient_id],
        amount_raw=RawAmount(sum(word << (64 * at) for at, word in enumerate(words))),
    )


def _write_tokens(tx: Transaction, rows: Sequence[Cells]) -> None:
    tx.execute_many(
        "imports/insert_token",
        ((cells[1], cells[2], blob(cells[3]), *cells[4:]) for cells in rows),
    )
    for _, token_id, chain_id, _, because, *_ in rows:
        if because != "request":
            tx.execute(
                "tasks/add_task",
                kind="refresh",
                token_id=token_id,
                chain_id=chain_id,
                worth=NEW_WORTH,
                due_s=0,
            )


def _write_trades(tx: Transaction, rows: Sequence[Cells]) -> None:
    stored = []
    for _, chain_id, block_number, log_index, time_s, pool_key, amount0, amount1 in rows:
        pool = find_pools(tx, chain_id=chain_id, pool_keys=(pool_key,)).get(pool_key)
        if pool is not None:
            place = (chain_id, block_number, log_index)
            stored.append((*place, pool.pool_no, time_s, amount0, amount1))
    tx.execute_many("trades/insert_trade", stored)


def _write_histories(tx: Transaction, rows: Sequence[Cells]) -> None:
    for _, token_id, is_whole, requests, logs in rows:
        row = HistoryRow(is_whole=is_whole, requests=requests, logs=logs)
        write_history(tx, row, token_id=token_id)


def _write_refusals(tx: Transaction, rows: Sequence[Cells]) -> None:
    for _, token_id, code, reason, refused_at_s in rows:
        row = RefusalRow(code=code, reason=reason, refused_at_s=refused_at_s)
        tx.insert("refusal", [row], token_id=token_id, on_conflict="replace")


def _structs(cells: Sequence[Cells], row: type[T]) -> list[T]:
    names = row.__struct_fields__
    return [msgspec.convert(dict(zip(names, one[1:], strict=True)), row) for one in cells]


def _insert(
    table: str, row: type[msgspec.Struct]
) -> Callable[[Transaction, Sequence[Cells]], object]:
    return lambda tx, cells: tx.insert(table, _structs(cells, row), on_conflict="replace")


_STEPS: Final = (
    _Step(table="token", query="list_tokens", write=_write_tokens),
    _Step(
        table="pool",
        query="list_pools",
        write=lambda tx, cells: insert_pools(tx, _structs(cells, PoolRow)),
    ),
    _Step(table="launch", query="list_launches", write=_insert("launch", LaunchRow)),
    _Step(table="creator", query="list_creators", write=_insert("creator", CreatorRow)),
    _Step(table="block", query="list_blocks", write=_insert("block", BlockRow)),
    _Step(table="checkpoint", query="list_checkpoints", write=_insert("checkpoint", CheckpointRow)),
    _Step(table="coverage", query="list_coverage", write=_insert("coverage", CoverageRow)),
    _Step(table="history", query="list_histories", write=_write_histories),
    _Step(table="refusal", query="list_refusals", write=_write_refusals),
    _Step(table="undecoded", query="list_undecoded", write=_insert("undecoded", UndecodedRow)),
    _Step(table="trade", query="list_trades", write=_write_trades),
)
"""Tables that are copied as they are, in an order in which each finds what it refers to."""
