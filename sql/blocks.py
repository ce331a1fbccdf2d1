"""Recent blocks, and checkpoints of ingestion streams."""

from collections.abc import Sequence

from sql.rows import BlockRow, CheckpointRow
from sql.sqlite_file import Transaction
from sql.store import Readable

_HIGHEST = 2**63 - 1

FINAL = "final"
"""Stream of finalization: rows up to its checkpoint are in the balances, or will be, for good."""


def read_checkpoint(store: Readable, *, chain_id: int, stream: str) -> CheckpointRow | None:
    """Return the checkpoint of a stream; None before its first block."""
    return store.fetch_one(
        "blocks/find_checkpoint", CheckpointRow, chain_id=chain_id, stream=stream
    )


def list_checkpoints(store: Readable, *, chain_id: int) -> list[CheckpointRow]:
    """Return the checkpoints of all streams of a chain, by name."""
    return store.fetch("blocks/list_checkpoints", CheckpointRow, chain_id=chain_id)


def write_checkpoint(tx: Transaction, checkpoint: CheckpointRow) -> None:
    """Set a stream's checkpoint, in the same transaction as the rows it covers."""
    tx.insert("checkpoint", [checkpoint], on_conflict="replace")


def list_blocks(
    store: Readable, *, chain_id: int, first: int = 0, last: int = _HIGHEST
) -> list[BlockRow]:
    """Return the stored window of recent blocks from `first` to `last`, lowest first."""
    return store.fetch("blocks/list_window", BlockRow, chain_id=chain_id, first=first, last=last)


def insert_blocks(tx: Transaction, blocks: Sequence[BlockRow]) -> None:
    """Add blocks to the window, replacing any with the same number."""
    tx.insert("block", blocks, on_conflict="replace")


def prune_blocks(tx: Transaction, *, chain_id: int, below: int) -> None:
    """Delete the blocks below a number: they are final."""
    tx.execute("blocks/delete_below", chain_id=chain_id, number=below)
