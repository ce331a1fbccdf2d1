"""Writes rows of a back-fill straight to the lake, with a note in the same transaction.

The note tells a range that came but is not yet in the serving state's balances from one that did
not come: who fills ranges reads `list_bulks` after a crash.
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
"""Columns that a caller hands over. Of an address: its highest 32, middle 64 and lowest 64 bits. Of
an amount: four 64-bit words, the lowest first. Of a time that is not known: -1."""


TOKEN_COLUMNS_IN: Final = ("token_id", "high", "mid", "low")

LakeColumns = Mapping[str, npt.NDArray[np.generic]]
"""Columns by name: numbers only, as DuckDB looks at each text or object from Python by itself."""


class BulkRange(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks of which a stream hands over all rows."""

    chain_id: int
    stream: str
    from_block: int
    to_block: int
    """The last block; included."""


class BulkNote(msgspec.Struct, frozen=True, kw_only=True):
    """A range that the lake has."""

    batch: int
    """Number of the range, from 1; numbers do not come twice, and later ranges have higher ones."""
    chain_id: int
    stream: str
    from_block: int
    to_block: int
    rows: int
    """Transfers that it brought; those that were stored already are not counted."""


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
    """Write the transfers of a range and note it, in one transaction.

    `transfers` have TRANSFER_COLUMNS_IN, and their rows are by token (its text), block and log
    index: files are sorted, and this order is kept. `tokens` have TOKEN_COLUMNS_IN of each token in
    them. Rows that the lake or the serving state holds already are left out, by
    block and log index; `stored` is the serving state (None: the store has none). Raises
    StoreError, with nothing written, also for rows outside the range or of a token that was not
    told.
    """
    numbers = msgspec.structs.asdict(bulk)
    stream = str(numbers.pop("stream"))
    frames = {"incoming_transfer": transfers, "incoming_token": tokens}
    # First the serving state, then the lake: what moves meanwhile is seen in one or in both.
    waiting = [] if stored is None else stored.list_keys(**numbers)
    # Numbers are given out one by one, also between processes.
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
    """Return how many rows are to be written. Raises StoreError for blocks outside the range."""
    (found,) = tx.fetch("find_incoming", _Incoming)
    first = bulk.from_block if found.first_block is None else found.first_block
    last = bulk.to_block if found.last_block is None else found.last_block
    if first < bulk.from_block or last > bulk.to_block:
        reason = f"transfers of blocks {first} to {last} are not of {bulk}"
        raise StoreError(path=lake.place.name, reason=reason)
    return found.rows


def _keys_table(keys: Sequence[tuple[int, int]]) -> LakeColumns:
    """Return (block, log index) as columns."""
    return {
        "block_number": np.array([key[0] for key in keys], np.int64),
        "log_index": np.array([key[1] for key in keys], np.int32),
    }


def list_bulks(lake: Lake, *, above: int = 0) -> list[BulkNote]:
    """Return the noted ranges with a number above one, in order."""
    return lake.fetch("list_bulks", BulkNote, above=above)
