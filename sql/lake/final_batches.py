"""Batches of final rows in the serving state: closed, summed, and deleted once in the lake.

Every statement here holds the write lock of the serving state for a few milliseconds at most.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

import msgspec

from core.errors import StoreError
from sql.engine.exact_numbers import from_blob
from sql.lake.batch_sums import BatchSums
from sql.lake.find_place import LakeOwner, place_of
from sql.lake.lake_place import ALONE, LakeLock, StreamingDatabase

SERVING_QUERIES: Final = Path(__file__).with_name("serving.sql")

DELETED_AT_ONCE: Final = 2_000
"""Rows in one transaction of a deletion."""

_FETCHED_AT_ONCE = 5_000


class ClosedBatch(msgspec.Struct, frozen=True, kw_only=True):
    """A batch that gets no more rows."""

    batch: int
    chain_id: int


class FinalBatches:
    """The batches of one serving state, over separate connections."""

    def __init__(self, database: StreamingDatabase, *, name: str) -> None:
        """Wrap a database. `name`: of the serving state in errors."""
        self._database = database
        self._name = name

    @classmethod
    def open(cls, owner: LakeOwner, lock: LakeLock = ALONE) -> "FinalBatches":
        """Connect to the serving state. `lock`: lock that covers the statements. Raises StoreError,
        also if there is none."""
        place = place_of(owner)
        return cls(place.open_batches(SERVING_QUERIES, lock), name=place.serving_name)

    def close(self) -> None:
        """Close the connections."""
        self._database.close()

    def list_chains(self) -> list[int]:
        """Return the chains that have a batch, in order."""
        return [chain_id for (chain_id,) in self._database.fetch_tuples("list_chains")]

    def count_open(self, chain_id: int, *, at_most: int) -> int:
        """Count the rows in the open batch of a chain, each kind up to `at_most`."""
        found = self._database.fetch_tuples("find_open", chain_id=chain_id)
        if not found:
            return 0
        (counts,) = self._database.fetch_tuples("count_rows", batch=found[0][0], at_most=at_most)
        return sum(counts)

    def close_open(self, chain_id: int) -> int | None:
        """Close the open batch of a chain and open the next. None: there was none."""
        with self._database.transaction(chain_id=chain_id) as tx:
            closed = tx.fetch_tuples("close_open", chain_id=chain_id)
            if not closed:
                return None
            tx.execute("insert_open", chain_id=chain_id)
            return int(closed[0][0])

    def list_closed(self, chain_id: int | None = None) -> list[ClosedBatch]:
        """Return the closed batches of a chain, or of all chains, oldest first."""
        return self._database.fetch("list_closed", ClosedBatch, chain_id=chain_id)

    def put_on_disk(self, batch: int) -> None:
        """Sync the rows and the closing of a batch to disk.

        Raises StoreError if the batch is not closed.
        """
        with self._database.transaction() as tx:
            if not tx.fetch_tuples("confirm_closed", batch=batch):
                reason = f"batch {batch} is not closed"
                raise StoreError(path=self._name, reason=reason)

    def count_rows(self, batch: int) -> int:
        """Count the rows of a batch."""
        return sum(self._counts(batch))

    def sum_batch(self, batch: int) -> BatchSums:
        """Sum the rows of a batch, independently of the lake's representation."""
        transfers, trades, undecoded = self._counts(batch)
        amounts = senders = recipients = 0
        for chunk in self._database.stream("list_numbers", at_once=_FETCHED_AT_ONCE, batch=batch):
            amounts += sum(from_blob(row[0]) for row in chunk)
            senders += sum(int.from_bytes(row[1]) for row in chunk)
            recipients += sum(int.from_bytes(row[2]) for row in chunk)
        return BatchSums(
            transfers=transfers,
            amount_sum=amounts,
            sender_sum=senders,
            recipient_sum=recipients,
            trades=trades,
            undecoded=undecoded,
        )

    def last_final_pool(self, chain_id: int) -> int:
        """Return the number up to which all pools of a chain are final; 0 without one."""
        ((number,),) = self._database.fetch_tuples("find_last_final_pool", chain_id=chain_id)
        return int(number or 0)

    def first_moving_block(self, chain_id: int) -> int | None:
        """Return the first block that may still be reorganised away. None: none is known."""
        ((number,),) = self._database.fetch_tuples("find_first_moving_block", chain_id=chain_id)
        return None if number is None else int(number)

    def count_launches(self, chain_id: int, *, below: int | None) -> int:
        """Count the launches below a block, or all."""
        ((count,),) = self._database.fetch_tuples("count_launches", chain_id=chain_id, below=below)
        return int(count)

    def list_keys(self, chain_id: int, from_block: int, to_block: int) -> list[tuple[int, int]]:
        """Return block and log index of the transfers of a chain in a range, both ends included.

        Includes those that are not final, and those queued for the lake.
        """
        rows = self._database.fetch_tuples(
            "list_transfer_keys", chain_id=chain_id, from_block=from_block, to_block=to_block
        )
        return [(block_number, log_index) for block_number, log_index in rows]

    def list_waiting(
        self, kind: Literal["trade", "undecoded"], chain_id: int, from_block: int, to_block: int
    ) -> list[tuple[int, int]]:
        """Return block and log index of final trades or undecoded logs queued for the lake.

        Of one chain in a range, both ends included.
        """
        rows = self._database.fetch_tuples(
            f"list_waiting_{kind}", chain_id=chain_id, from_block=from_block, to_block=to_block
        )
        return [(block_number, log_index) for block_number, log_index in rows]

    def delete_rows(self, batch: int) -> Iterator[int]:
        """Delete the rows of a closed batch in steps, then the batch; yield the deleted rows."""
        for statement in ("delete_transfers", "delete_trades", "delete_undecoded"):
            deleted = DELETED_AT_ONCE
            while deleted == DELETED_AT_ONCE:
                with self._database.transaction() as tx:
                    deleted = tx.execute(statement, batch=batch, at_most=DELETED_AT_ONCE)
                yield deleted
        with self._database.transaction() as tx:
            tx.execute("delete_batch", batch=batch)

    def _counts(self, batch: int) -> tuple[int, int, int]:
        """Count the transfers, trades and undecoded logs of a batch."""
        ((transfers, trades, undecoded),) = self._database.fetch_tuples(
            "count_rows", batch=batch, at_most=-1
        )
        return transfers, trades, undecoded
