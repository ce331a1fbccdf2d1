"""Recent blocks, checkpoints of ingestion streams, and rollback of ingested data after a reorg."""

from collections.abc import Sequence

import msgspec
import polars as pl

from sql.columns import encode
from sql.reports import delete_reports
from sql.rows import BlockRow, CheckpointRow
from sql.store import Readable, Transaction


class _Orphan(msgspec.Struct, frozen=True, kw_only=True):
    token_id: int
    is_asked_for: bool


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
    tx.execute("blocks/delete_checkpoint", chain_id=checkpoint.chain_id, stream=checkpoint.stream)
    tx.insert("checkpoint", [checkpoint])


def list_blocks(store: Readable, *, chain_id: int) -> list[BlockRow]:
    """Return the stored window of recent blocks, lowest first."""
    return store.fetch("blocks/list_window", BlockRow, chain_id=chain_id)


def insert_blocks(tx: Transaction, blocks: Sequence[BlockRow]) -> None:
    """Add blocks to the window, replacing any with the same number."""
    if not blocks:
        return
    with tx.frame("incoming_block", encode(blocks, BlockRow)):
        tx.execute("blocks/delete_same")
    tx.insert("block", blocks)


def prune_blocks(tx: Transaction, *, chain_id: int, below: int) -> None:
    """Delete the blocks below a number: they are final."""
    tx.execute("blocks/delete_below", chain_id=chain_id, number=below)


def unwind_from(tx: Transaction, *, chain_id: int, number: int) -> None:
    """Roll back everything stored from the blocks from `number` on.

    Deletes pools, launches, transfers, trades, undecoded logs and blocks; also tokens left without
    pool and launch, with their reports, unless they were requested. Coverage and checkpoints end
    right below `number`.
    """
    where = {"chain_id": chain_id, "number": number}
    orphans = tx.fetch("tokens/list_orphans", _Orphan, **where)
    _drop_tokens(tx, [orphan.token_id for orphan in orphans if not orphan.is_asked_for])
    with tx.frame(
        "kept_token", _id_frame([orphan.token_id for orphan in orphans if orphan.is_asked_for])
    ):
        tx.execute("tokens/demote_tokens")
    tx.execute("tokens/reset_launched", **where)
    tx.execute("pools/delete_from", **where)
    tx.execute("launches/delete_from", **where)
    tx.execute("transfers/delete_from", **where)
    tx.execute("trades/delete_from", **where)
    tx.execute("transfers/delete_undecoded_from", **where)
    tx.execute("blocks/delete_from", **where)
    tx.execute("coverage/delete_from", **where)
    tx.execute("coverage/trim_from", **where)
    tx.execute("blocks/reset_checkpoints", **where)


def _drop_tokens(tx: Transaction, token_ids: Sequence[int]) -> None:
    """Delete tokens with all dependent rows, as a freed token id may be given to another token."""
    if not token_ids:
        return
    for token_id in token_ids:
        delete_reports(tx, token_id)
    with tx.frame("gone_token", _id_frame(token_ids)):
        tx.execute("transfers/delete_of_tokens")
        tx.execute("histories/delete_of_tokens")
        tx.execute("tokens/delete_tokens")


def _id_frame(token_ids: Sequence[int]) -> pl.DataFrame:
    return pl.DataFrame({"token_id": pl.Series(token_ids, dtype=pl.Int32)})
