"""Moves of closed batches of final rows, and copies of pools and launches, to the lake.

A batch moves in two stages: its rows and a note in one transaction of the lake, then its deletion
from the serving state in small steps. Readers skip rows of the serving state in a noted batch, so
they see each row once at any moment, even if this process ends in between.
"""

import time
from collections.abc import Callable

import msgspec

from core.errors import StoreError
from sql.engine.statements import Engine
from sql.lake.batch_sums import BatchSums, WordSums
from sql.lake.final_batches import ClosedBatch, FinalBatches
from sql.lake.lake_file import Lake, LakeTransaction
from sql.lake.lake_statements import scan_text

CLOSE_AT_ROWS = 1_000_000
"""Rows at which an open batch is closed at any age."""

CLOSE_AFTER_S = 3_600.0
"""Seconds since the last move after which any open batch with rows is closed."""

_PAUSE_S = 0.01
"""Pause between two steps of a deletion, in which others get the write lock."""

Report = Callable[[int], None]
"""Receives the number of rows of each step."""


class _Moved(msgspec.Struct, frozen=True, kw_only=True):
    chain_id: int
    transfers: int
    amount_sum: str
    sender_sum: str
    recipient_sum: str
    trades: int
    undecoded: int

    def sums(self) -> BatchSums:
        return BatchSums(
            transfers=self.transfers,
            amount_sum=int(self.amount_sum),
            sender_sum=int(self.sender_sum),
            recipient_sum=int(self.recipient_sum),
            trades=self.trades,
            undecoded=self.undecoded,
        )


class _LastMove(msgspec.Struct, frozen=True, kw_only=True):
    moved_at_s: int | None


class _File(msgspec.Struct, frozen=True, kw_only=True):
    filename: str


def close_batch(
    batches: FinalBatches, lake: Lake, chain_id: int, *, now_s: float, is_forced: bool
) -> int | None:
    """Close the open batch of a chain if it is due, or if it has rows and `is_forced`.

    Returns its number. None: it stays open, or has no rows.
    """
    rows = batches.count_open(chain_id, at_most=CLOSE_AT_ROWS)
    if not rows:
        return None
    (last,) = lake.fetch("find_last_move", _LastMove, chain_id=chain_id)
    is_old = last.moved_at_s is None or now_s - last.moved_at_s >= CLOSE_AFTER_S
    if is_forced or is_old or rows >= CLOSE_AT_ROWS:
        return batches.close_open(chain_id)
    return None


def count_closed(batches: FinalBatches) -> int:
    """Count the rows in closed batches."""
    return sum(batches.count_rows(each.batch) for each in batches.list_closed())


def move_closed(
    batches: FinalBatches, lake: Lake, *, now_s: int, progress: Report = lambda _: None
) -> int:
    """Move all closed batches, oldest first; continues after an interruption.

    `progress` receives each row twice: when it is in the lake, and when it is deleted from the
    serving state. Returns the moved rows. Raises StoreError without deleting anything if the sums
    of the lake's rows differ.
    """
    moved = 0
    for batch in batches.list_closed():
        moved += _write(batches, lake, batch, now_s, progress)
        for deleted in batches.delete_rows(batch.batch):
            progress(deleted)
            time.sleep(_PAUSE_S)
    return moved


def _write(
    batches: FinalBatches, lake: Lake, closed: ClosedBatch, now_s: int, progress: Report
) -> int:
    """Write a batch to the lake unless it is there; return the written rows."""
    noted = lake.fetch("find_moved", _Moved, batch=closed.batch)
    if noted:
        with lake.transaction() as tx:
            _compare(lake, closed, expected=noted[0].sums(), found=_sums_of(tx, closed))
        return 0
    # Without this a power cut might revert rows that the lake has already.
    batches.put_on_disk(closed.batch)
    expected = batches.sum_batch(closed.batch)
    with lake.transaction() as tx:
        _insert(tx, lake.place.engine, closed, expected, progress)
        _compare(lake, closed, expected=expected, found=_sums_of(tx, closed))
        files = tx.fetch("list_files_of_batch", _File, **msgspec.structs.asdict(closed))
        lake.place.put_on_disk(file.filename for file in files)
        tx.execute(
            "insert_moved",
            **msgspec.structs.asdict(closed),
            transfers=expected.transfers,
            amount_sum=str(expected.amount_sum),
            sender_sum=str(expected.sender_sum),
            recipient_sum=str(expected.recipient_sum),
            trades=expected.trades,
            undecoded=expected.undecoded,
            moved_at_s=now_s,
        )
    return expected.rows


def _insert(
    tx: LakeTransaction,
    engine: Engine,
    closed: ClosedBatch,
    expected: BatchSums,
    progress: Report,
) -> None:
    """Write the rows of each kind in the batch: a kind without rows would make an empty file."""
    numbers = msgspec.structs.asdict(closed)
    if expected.transfers:
        tx.execute(
            "move_transfers", **numbers, scan=scan_text("tokens", engine, batch=closed.batch)
        )
        progress(expected.transfers)
    if expected.trades:
        tx.execute("move_trades", **numbers, scan=scan_text("pools", engine, batch=closed.batch))
        progress(expected.trades)
    if expected.undecoded:
        tx.execute("move_undecoded", **numbers)
        progress(expected.undecoded)


def _sums_of(tx: LakeTransaction, closed: ClosedBatch) -> BatchSums:
    (found,) = tx.fetch("sum_batch", WordSums, **msgspec.structs.asdict(closed))
    return found.combine()


def _compare(lake: Lake, closed: ClosedBatch, *, expected: BatchSums, found: BatchSums) -> None:
    if found != expected:
        reason = f"batch {closed.batch} does not add up: {expected} here, {found} in the lake"
        raise StoreError(path=lake.place.name, reason=reason)


_LAST_BLOCK = 2**62
"""Above every block."""


class _Pool(msgspec.Struct, frozen=True, kw_only=True):
    pool_no: int


class _Launches(msgspec.Struct, frozen=True, kw_only=True):
    block_number: int
    launches: int


def copy_facts(batches: FinalBatches, lake: Lake, chain_id: int) -> None:
    """Copy the new final pools and launches of a chain, so that the lake can be read alone. Raises
    StoreError."""
    _copy_pools(batches, lake, chain_id)
    _copy_launches(batches, lake, chain_id)


def _copy_pools(batches: FinalBatches, lake: Lake, chain_id: int) -> None:
    to = batches.last_final_pool(chain_id)
    (last,) = lake.fetch("find_last_pool", _Pool, chain_id=chain_id)
    if to > last.pool_no:
        scan = scan_text(
            "new_pools", lake.place.engine, chain_id=chain_id, above=last.pool_no, to=to
        )
        lake.execute("copy_pools", chain_id=chain_id, scan=scan)


def _copy_launches(batches: FinalBatches, lake: Lake, chain_id: int) -> None:
    moving = batches.first_moving_block(chain_id)
    to_block = _LAST_BLOCK if moving is None else moving - 1
    wanted = batches.count_launches(chain_id, below=moving)
    # Missing launches are usually newer than the copied ones; a back-fill brings older ones.
    for from_block in (None, 0):
        (here,) = lake.fetch("find_last_launch", _Launches, chain_id=chain_id)
        if here.launches >= wanted:
            return
        first = here.block_number if from_block is None else from_block
        scan = scan_text(
            "launches",
            lake.place.engine,
            chain_id=chain_id,
            from_block=max(0, first),
            to_block=to_block,
        )
        lake.execute("copy_launches", chain_id=chain_id, scan=scan)
