"""Recent blocks, checkpoints of ingestion streams, and counts of progress."""

import time
from collections.abc import Mapping, Sequence

import msgspec

from sql.engine.database import Transaction
from sql.engine.store import Readable
from sql.engine.table_rows import BlockRow, CheckpointRow

_HIGHEST = 2**63 - 1

BACKFILL = "backfill:"
"""Prefix of the names of back-fill streams."""

FOLLOW = "follow"
"""Stream that continues to the head of the chain."""

FINAL = "final"
"""Stream of finalization: rows up to its checkpoint are permanently in the balances, or will be."""


class _Floor(msgspec.Struct, frozen=True, kw_only=True):
    number: int


def read_checkpoint(store: Readable, *, chain_id: int, stream: str) -> CheckpointRow | None:
    """Return the checkpoint of a stream; None before its first block."""
    return store.fetch_one(
        "blocks/find_checkpoint", CheckpointRow, chain_id=chain_id, stream=stream
    )


def list_checkpoints(store: Readable, *, chain_id: int) -> list[CheckpointRow]:
    """Return the checkpoints of all streams of a chain, by name."""
    return store.fetch("blocks/list_checkpoints", CheckpointRow, chain_id=chain_id)


def has_backfill(store: Readable, *, chain_id: int) -> bool:
    """True if a back-fill has stored blocks of a chain."""
    streams = list_checkpoints(store, chain_id=chain_id)
    return any(row.stream.startswith(BACKFILL) for row in streams)


def write_checkpoint(tx: Transaction, checkpoint: CheckpointRow) -> None:
    """Set a stream's checkpoint, in the same transaction as the rows it covers."""
    tx.insert("checkpoint", [checkpoint], on_conflict="replace")


def list_blocks(
    store: Readable, *, chain_id: int, first: int = 0, last: int = _HIGHEST
) -> list[BlockRow]:
    """Return the stored window of recent blocks from `first` to `last`, lowest first."""
    return store.fetch("blocks/list_window", BlockRow, chain_id=chain_id, first=first, last=last)


def find_block_from(store: Readable, *, chain_id: int, number: int) -> BlockRow | None:
    """Return the lowest block of the window from a number on. None: all are lower."""
    return store.fetch_one("blocks/find_from", BlockRow, chain_id=chain_id, number=number)


def insert_blocks(tx: Transaction, blocks: Sequence[BlockRow]) -> None:
    """Add blocks to the window, replacing any with the same number."""
    tx.insert("block", blocks, on_conflict="replace")


def insert_block_times(tx: Transaction, times: Mapping[int, int], *, chain_id: int) -> None:
    """Store the times of blocks, Unix seconds by number, for SQL. Raises StoreError."""
    if times:
        rows = ((chain_id, number, time_s) for number, time_s in times.items())
        tx.execute_many("blocks/insert_time", rows)


def prune_blocks(tx: Transaction, *, chain_id: int, below: int) -> None:
    """Delete the blocks below a number: they are final."""
    tx.execute("blocks/delete_below", chain_id=chain_id, number=below)


def read_floor(store: Readable, *, chain_id: int) -> int | None:
    """Return the lowest block that the follower may unwind. None: it has not stored any."""
    found = store.fetch_one("blocks/find_floor", _Floor, chain_id=chain_id)
    return None if found is None else found.number


def raise_floor(tx: Transaction, *, chain_id: int, number: int) -> None:
    """Record that the follower unwinds no block below a number; a higher one is kept."""
    tx.execute("blocks/raise_floor", chain_id=chain_id, number=number)


def find_final(store: Readable, *, chain_id: int, stream: str, depth: int) -> int | None:
    """Return the highest block of a stream that is never unwound. None: nothing is stored.

    `depth`: blocks below the checkpoint that a reorg may take away. Blocks whose logs may still be
    incomplete are above the floor, however deep they are.
    """
    checkpoint = read_checkpoint(store, chain_id=chain_id, stream=stream)
    if checkpoint is None:
        return None
    final = checkpoint.number - depth
    floor = read_floor(store, chain_id=chain_id)
    return final if floor is None else min(final, floor - 1)


class ChainCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Row counts of one chain that has been followed."""

    chain_id: int
    tip: int
    """Newest block ingested."""
    pools: int
    transfers: int
    """Transfers that are not in the lake yet."""
    queue: int
    """Tokens that are due for an analysis."""
    whole_histories: int
    """Tokens whose transfers are stored from the first one on."""


def read_counts(store: Readable) -> dict[int, ChainCounts]:
    """Return counts by chain id. Raises StoreError."""
    found = store.fetch("status/list_chains", ChainCounts, now_s=int(time.time()))
    return {row.chain_id: row for row in found}
