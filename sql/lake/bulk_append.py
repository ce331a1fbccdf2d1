"""Writes of back-fills directly to the lake, with a note in the same transaction.

The note distinguishes a stored range that is not yet in the serving state's balances from a missing
one: after a crash the back-fill reads `list_bulks`.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from core.errors import StoreError
from sql.lake.final_batches import FinalBatches
from sql.lake.lake_file import Lake, LakeTransaction

TRANSFER_COLUMNS_IN: Final = (
    *("block_number", "log_index", "token_id"),
    *("sender_high", "sender_mid", "sender_low"),
    *("recipient_high", "recipient_mid", "recipient_low"),
    *("word0", "word1", "word2", "word3"),
    "time_s",
)
"""Columns of transfers to append. An address has its highest 32, middle 64 and lowest 64 bits; an
amount four 64-bit words, the lowest first; an unknown time is -1."""


TOKEN_COLUMNS_IN: Final = ("token_id", "high", "mid", "low")

LakeColumns = Mapping[str, npt.NDArray[np.generic]]
"""Columns by name. Numbers only: DuckDB converts texts and objects of Python one by one."""


class BulkRange(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks whose rows a stream appends completely."""

    chain_id: int
    stream: str
    from_block: int
    to_block: int
    """Last block, included."""


class BulkNote(msgspec.Struct, frozen=True, kw_only=True):
    """A range that is in the lake."""

    batch: int
    """Number of the range, from 1; ascending and never reused."""
    chain_id: int
    stream: str
    from_block: int
    to_block: int
    rows: int
    """New transfers; those that were stored already are not counted."""


class _Number(msgspec.Struct, frozen=True, kw_only=True):
    batch: int


class _There(msgspec.Struct, frozen=True, kw_only=True):
    is_there: bool


class _Incoming(msgspec.Struct, frozen=True, kw_only=True):
    rows: int
    first_block: int | None
    last_block: int | None


class _File(msgspec.Struct, frozen=True, kw_only=True):
    filename: str


def append_transfers(
    lake: Lake,
    bulk: BulkRange,
    *,
    transfers: LakeColumns,
    tokens: LakeColumns,
    stored: FinalBatches | None,
) -> BulkNote:
    """Write the transfers of a range with its note, in one transaction.

    `transfers` have TRANSFER_COLUMNS_IN, sorted by token (as text), block and log index, and files
    keep this order. `tokens` have TOKEN_COLUMNS_IN of each token in them. Rows that are in the lake
    or the serving state are skipped by block and log index; `stored` is the serving state (None:
    the store has none). Raises StoreError without writing anything, also for rows outside the range
    or of a token that is missing in `tokens`.
    """
    numbers = msgspec.structs.asdict(bulk)
    stream = str(numbers.pop("stream"))
    frames = {"incoming_transfer": transfers, "incoming_token": tokens}
    # First the serving state, then the lake: rows that move in between are in one or both.
    waiting = [] if stored is None else stored.list_keys(**numbers)
    # Numbers are assigned one at a time, also between processes.
    with lake.alone(), lake.transaction() as tx, tx.frames(frames):
        expected = _check(tx, lake, bulk)
        (found,) = tx.fetch("find_in_lake", _There, **numbers)
        (next_bulk,) = tx.fetch("next_bulk", _Number)
        batch = next_bulk.batch
        rows = 0
        if expected and (waiting or found.is_there):
            with tx.frames({"stored_key": _keys_table(waiting)}):
                rows = tx.insert("append_new_transfers", batch=batch, **numbers)
        elif expected:
            rows = tx.insert("append_transfers", batch=batch, chain_id=bulk.chain_id)
        if rows:
            files = tx.fetch("list_files_of_bulk", _File, batch=batch, chain_id=bulk.chain_id)
            lake.place.put_on_disk(each.filename for each in files)
        tx.execute("insert_bulk", batch=batch, stream=stream, rows=rows, **numbers)
    return BulkNote(batch=batch, rows=rows, stream=stream, **numbers)


def _check(tx: LakeTransaction, lake: Lake, bulk: BulkRange) -> int:
    """Return the number of rows to write. Raises StoreError for blocks outside the range."""
    (found,) = tx.fetch("find_incoming", _Incoming)
    first = bulk.from_block if found.first_block is None else found.first_block
    last = bulk.to_block if found.last_block is None else found.last_block
    if first < bulk.from_block or last > bulk.to_block:
        reason = f"transfers of blocks {first} to {last} are not of {bulk}"
        raise StoreError(path=lake.place.name, reason=reason)
    return found.rows


def _keys_table(keys: Sequence[tuple[int, int]]) -> LakeColumns:
    """Return pairs of block and log index as columns."""
    return {
        "block_number": np.array([key[0] for key in keys], np.int64),
        "log_index": np.array([key[1] for key in keys], np.int32),
    }


def list_bulks(lake: Lake, *, above: int = 0) -> list[BulkNote]:
    """Return the noted ranges with a number above one, in order."""
    return lake.fetch("list_bulks", BulkNote, above=above)
