"""Finds final trades and undecoded logs that are already stored, in the lake too.

A back-fill that overlaps another one or the follower brings events that may have left the serving
state, and must insert nothing twice.
"""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeVar

import msgspec

from sql.chain.blocks import FINAL, read_checkpoint
from sql.engine.store import Readable
from sql.lake.final_batches import FinalBatches
from sql.lake.find_place import LakeOwner, place_of
from sql.lake.lake_file import Lake

_MEMORY_MB = 200

FinalEventKind = Literal["trade", "undecoded"]


class _Placed(Protocol):
    @property
    def block_number(self) -> int: ...
    @property
    def log_index(self) -> int: ...


class _Place(msgspec.Struct, frozen=True, kw_only=True):
    block_number: int
    log_index: int


T = TypeVar("T", bound=_Placed)


class FinalEvents:
    """Events that are queued for the lake or in it. Not for concurrent use."""

    def __init__(self, owner: LakeOwner) -> None:
        self._place = place_of(owner)
        self._lake: Lake | None = None
        self._batches: FinalBatches | None = None

    def open(self) -> None:
        """Open queue and lake in advance: it takes a while, and a transaction should not wait for
        it. Raises StoreError."""
        if self._batches is None:
            self._batches = FinalBatches.open(self._place)
        if self._lake is None and self._place.has_lake():
            self.opened_lake()

    def opened_lake(self) -> Lake:
        """Return the lake, created if needed. Raises StoreError."""
        if self._lake is None:
            self._lake = Lake.open(
                self._place, memory_mb=_MEMORY_MB, sees_serving=False, preserve_order=True
            )
        return self._lake

    def close(self) -> None:
        """Close queue and lake."""
        if self._batches is not None:
            self._batches.close()
        if self._lake is not None:
            self._lake.close()
        self._batches = self._lake = None

    def without_stored(
        self, tx: Readable, kind: FinalEventKind, rows: Sequence[T], *, chain_id: int
    ) -> list[T]:
        """Return the rows without the stored final ones, by block and log index.

        `tx`: the transaction that stores the others, and sees the rows that are not final. Raises
        StoreError.
        """
        final = read_checkpoint(tx, chain_id=chain_id, stream=FINAL)
        old = [row.block_number for row in rows if final and row.block_number <= final.number]
        if not old:
            return list(rows)
        stored = self._list_stored(kind, chain_id, min(old), max(old))
        return [row for row in rows if (row.block_number, row.log_index) not in stored]

    def _list_stored(
        self, kind: FinalEventKind, chain_id: int, from_block: int, to_block: int
    ) -> set[tuple[int, int]]:
        self.open()
        where = {"chain_id": chain_id, "from_block": from_block, "to_block": to_block}
        # First the serving state, then the lake: rows that move in between are in one or both.
        waiting = [] if self._batches is None else self._batches.list_waiting(kind, **where)
        if self._lake is None:
            return set(waiting)
        moved = self._lake.fetch(f"list_{kind}_places", _Place, **where)
        return {*waiting, *((row.block_number, row.log_index) for row in moved)}
