"""Finalization: rows beyond the reach of reorgs are added to the balances and queued for the lake.

Runs in small steps of one transaction each: wherever the process ends, every transfer is either in
the balances or still to be added.
"""

from collections import defaultdict
from typing import Any

import msgspec

from core.errors import StoreError
from sql.chain.balances import BalanceWriter
from sql.chain.blocks import FINAL, read_checkpoint, write_checkpoint
from sql.chain.trade_records import finalize_real_trades
from sql.chain.transfer_tables import add_transfer
from sql.engine.database import Transaction
from sql.engine.exact_numbers import from_blob
from sql.engine.store import Store
from sql.engine.table_rows import CheckpointRow

STEP_ROWS = 250
"""Rows of each kind in one step: it holds the write lock for about 20 ms, mostly for balances that
are scattered over the file."""

_TRADES_KEPT = 16
"""Newest final trades of a pool that are kept for prices."""

_RECENT_COLUMNS = 6
"""Columns of a trade that prices need: all but trader and transaction."""


class _Batch(msgspec.Struct, frozen=True, kw_only=True):
    batch: int


def finalize_rows(store: Store, *, chain_id: int, final: int, at_most: int = STEP_ROWS) -> int:
    """Finalize the first rows up to block `final`, `at_most` of each kind; return their number.

    Returns 0 if none are left. Raises StoreError.
    """
    with store.transaction(chain_id=chain_id) as tx:
        known = read_checkpoint(tx, chain_id=chain_id, stream=FINAL)
        if known is None or known.number < final:
            write_checkpoint(
                tx, CheckpointRow(chain_id=chain_id, stream=FINAL, number=final, hash=None)
            )
        step = _Step(tx, chain_id=chain_id, final=final, at_most=at_most)
        return (
            step.finalize_transfers()
            + step.finalize_trades()
            + step.finalize_undecoded()
            + finalize_real_trades(tx, chain_id=chain_id, final=final, at_most=max(1, at_most // 2))
        )


class _Step:
    """One step inside its transaction."""

    def __init__(self, tx: Transaction, *, chain_id: int, final: int, at_most: int) -> None:
        self._tx = tx
        self._chain_id = chain_id
        self._where = {"chain_id": chain_id, "final": final, "at_most": at_most}
        self._batch: int | None = None

    def finalize_transfers(self) -> int:
        """Add transfers to the balances of their owners, and move them into the open batch."""
        rows = self._tx.fetch_tuples("transfers/list_final", **self._where)
        changes: dict[int, defaultdict[bytes, int]] = {}
        for _, _, token_id, sender, recipient, amount, _ in rows:
            of_token = changes.setdefault(token_id, defaultdict(int))
            add_transfer(of_token, sender, recipient, from_blob(amount))
        BalanceWriter(self._tx).add(changes)
        self._move("transfers/insert_final", "transfers/delete_hot", rows)
        return len(rows)

    def finalize_trades(self) -> int:
        """Move trades into the open batch; keep the newest of each pool for prices, too."""
        rows = self._tx.fetch_tuples("trades/list_final", **self._where)
        recent = ((self._chain_id, *row[:_RECENT_COLUMNS]) for row in rows)
        self._tx.execute_many("trades/insert_recent", recent)
        for pool_no in {row[2] for row in rows}:
            self._tx.execute("trades/trim_recent", pool_no=pool_no, kept=_TRADES_KEPT)
        self._move("trades/insert_final", "trades/delete_hot", rows)
        return len(rows)

    def finalize_undecoded(self) -> int:
        """Move undecoded logs into the open batch."""
        rows = self._tx.fetch_tuples("transfers/list_final_undecoded", **self._where)
        self._move("transfers/insert_final_undecoded", "transfers/delete_hot_undecoded", rows)
        return len(rows)

    def _move(self, insert: str, delete: str, rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            return
        batch = self._open_batch()
        self._tx.execute_many(insert, ((batch, *row) for row in rows))
        self._tx.execute_many(delete, ((self._chain_id, row[0], row[1]) for row in rows))

    def _open_batch(self) -> int:
        if self._batch is None:
            chain = {"chain_id": self._chain_id}
            found = self._tx.fetch_one("batches/find_open", _Batch, **chain) or self._tx.fetch_one(
                "batches/insert_batch", _Batch, **chain
            )
            if found is None:
                raise StoreError(path="batch", reason="no batch could be opened")
            self._batch = found.batch
        return self._batch
