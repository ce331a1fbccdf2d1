"""Batches of final rows in the serving state: closed, added up, deleted once the lake has them.

Every statement here holds the write lock of the serving state for a few milliseconds at most.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

import msgspec

from core.errors import StoreError
from sql.lake.batch_sums import BatchSums
from sql.statements import load_statement
from sql.store_files import StoreFiles

SERVING_QUERIES: Final = Path(__file__).parent / "serving_queries"

DELETED_AT_ONCE: Final = 2_000
"""Rows in one transaction of a deletion."""

_WAIT_S = 30.0
"""Seconds to wait for the write lock."""

_LOOK_EVERY_S = 0.002
_FETCHED_AT_ONCE = 5_000


class ClosedBatch(msgspec.Struct, frozen=True, kw_only=True):
    """A batch that gets no more rows."""

    batch: int
    chain_id: int


class FinalBatches:
    """The batches of one serving state, over a connection of its own."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    @classmethod
    def open(cls, files: StoreFiles) -> "FinalBatches":
        """Connect to the serving state. Raises StoreError, also when there is no such file."""
        path = files.serving
        if not path.exists():
            raise StoreError(path=str(path), reason="there is no such file")
        try:
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            # A commit here puts all earlier ones of other connections on disk too.
            connection.execute("pragma synchronous = full")
            connection.execute("pragma busy_timeout = 0")  # `_transaction` waits instead
        except sqlite3.Error as error:
            raise StoreError(path=str(path), reason=str(error)) from error
        return cls(path, connection)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def list_chains(self) -> list[int]:
        """Return the chains that have a batch, in order."""
        with self._translated():
            return [row[0] for row in self._run("list_chains")]

    def count_open(self, chain_id: int, *, at_most: int) -> int:
        """Return how many rows the open batch of a chain has, each kind counted to `at_most`."""
        with self._translated():
            found = self._run("find_open", chain_id=chain_id).fetchone()
            if found is None:
                return 0
            counts = self._run("count_rows", batch=found[0], at_most=at_most).fetchone()
            return sum(counts)

    def close_open(self, chain_id: int) -> int | None:
        """Close the open batch of a chain and open the next. None: there was none."""
        with self._transaction():
            closed = self._run("close_open", chain_id=chain_id).fetchall()
            if not closed:
                return None
            self._run("insert_open", chain_id=chain_id)
            return int(closed[0][0])

    def list_closed(self, chain_id: int | None = None) -> list[ClosedBatch]:
        """Return the closed batches of a chain, oldest first. None: of all chains."""
        with self._translated():
            rows = self._run("list_closed", chain_id=chain_id).fetchall()
        return [ClosedBatch(batch=batch, chain_id=chain) for batch, chain in rows]

    def put_on_disk(self, batch: int) -> None:
        """Make sure that a power cut takes back neither the rows nor the closing of a batch.

        Raises StoreError when the batch is not closed.
        """
        with self._transaction():
            if not self._run("confirm_closed", batch=batch).fetchall():
                raise StoreError(path=str(self._path), reason=f"batch {batch} is not closed")

    def count_rows(self, batch: int) -> int:
        """Return how many rows a batch has."""
        with self._translated():
            return sum(self._run("count_rows", batch=batch, at_most=-1).fetchone())

    def sum_batch(self, batch: int) -> BatchSums:
        """Add up the rows of a batch, number by number: independently of how the lake has them."""
        with self._translated():
            counts = self._run("count_rows", batch=batch, at_most=-1).fetchone()
            amounts = senders = recipients = 0
            rows = self._run("list_numbers", batch=batch)
            while some := rows.fetchmany(_FETCHED_AT_ONCE):
                amounts += sum(int.from_bytes(row[0], signed=True) for row in some)
                senders += sum(int.from_bytes(row[1]) for row in some)
                recipients += sum(int.from_bytes(row[2]) for row in some)
        return BatchSums(
            transfers=counts[0],
            amount_sum=amounts,
            sender_sum=senders,
            recipient_sum=recipients,
            trades=counts[1],
            undecoded=counts[2],
        )

    def last_final_pool(self, chain_id: int) -> int:
        """Return the number up to which all pools of a chain are final; 0: there is none."""
        with self._translated():
            found = self._run("find_last_final_pool", chain_id=chain_id).fetchone()
        return int(found[0] or 0)

    def first_moving_block(self, chain_id: int) -> int | None:
        """Return the first block that may still be reorganised away. None: none is known."""
        with self._translated():
            found = self._run("find_first_moving_block", chain_id=chain_id).fetchone()
        return None if found[0] is None else int(found[0])

    def count_launches(self, chain_id: int, *, below: int | None) -> int:
        """Return the number of launches below a block. None: of all."""
        with self._translated():
            found = self._run("count_launches", chain_id=chain_id, below=below).fetchone()
        return int(found[0])

    def list_keys(self, chain_id: int, from_block: int, to_block: int) -> list[tuple[int, int]]:
        """Return block and log index of the transfers of a chain in a range, both ends included.

        Those that are not yet final, and those that wait for the lake.
        """
        with self._translated():
            rows = self._run(
                "list_keys", chain_id=chain_id, from_block=from_block, to_block=to_block
            ).fetchall()
        return [(row[0], row[1]) for row in rows]

    def list_waiting(
        self, kind: Literal["trade", "undecoded"], chain_id: int, from_block: int, to_block: int
    ) -> list[tuple[int, int]]:
        """Return block and log index of the final trades, or undecoded logs, of a chain in a range
        that wait for the lake; both ends included."""
        with self._translated():
            rows = self._run(
                f"list_waiting_{kind}", chain_id=chain_id, from_block=from_block, to_block=to_block
            ).fetchall()
        return [(row[0], row[1]) for row in rows]

    def delete_rows(self, batch: int) -> Iterator[int]:
        """Delete the rows of a closed batch step by step, then the batch; yield rows deleted."""
        for statement in ("delete_transfers", "delete_trades", "delete_undecoded"):
            deleted = DELETED_AT_ONCE
            while deleted == DELETED_AT_ONCE:
                with self._transaction():
                    cursor = self._run(statement, batch=batch, at_most=DELETED_AT_ONCE)
                    deleted = cursor.rowcount
                yield deleted
        with self._transaction():
            self._run("delete_batch", batch=batch)

    def _run(self, query: str, **params: object) -> sqlite3.Cursor:
        return self._connection.execute(load_statement(query, SERVING_QUERIES), params)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._translated():
            self._begin()
            try:
                yield
                self._connection.execute("commit")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("rollback")
                raise

    def _begin(self) -> None:
        """Begin a write transaction, looking often: SQLite's own waiting grows to 0.1 s a look."""
        until_s = time.monotonic() + _WAIT_S
        while True:
            try:
                self._connection.execute("begin immediate")
            except sqlite3.OperationalError as error:
                is_locked = error.sqlite_errorcode == sqlite3.SQLITE_BUSY
                if not is_locked or time.monotonic() >= until_s:
                    raise
                time.sleep(_LOOK_EVERY_S)
            else:
                return

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(path=str(self._path), reason=str(error)) from error
