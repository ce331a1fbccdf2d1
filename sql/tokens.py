"""Tracked tokens: which are followed, why, and from which block their transfers are stored."""

from collections.abc import Sequence
from typing import Literal

import polars as pl

from core.primitives import Address
from sql.rows import TokenRow
from sql.store import Readable, Transaction

Because = Literal["pool", "launch", "request"]


def track_tokens(
    tx: Transaction,
    *,
    chain_id: int,
    addresses: Sequence[Address],
    because: Because,
    block_number: int,
) -> None:
    """Track these tokens from now on; for tracked ones the earliest block is kept.

    `block_number` is where they were first seen: the block of pool or launch, or the head at a
    request. A request is stored, so that the token stays when its pools are reorganised away.
    """
    frame = pl.DataFrame({"address": pl.Series(addresses, dtype=pl.String)})
    seen = frame.with_columns(pl.lit(block_number, pl.Int64).alias("block_number"))
    track_token_frame(tx, chain_id=chain_id, because=because, frame=seen)


def track_token_frame(
    tx: Transaction, *, chain_id: int, because: Because, frame: pl.DataFrame
) -> None:
    """Track tokens as `track_tokens` does, each with its own block: columns address, block_number.

    An address may occur several times; the lowest block counts.
    """
    if not frame.height:
        return
    with tx.frame("incoming_token", frame.select("address", "block_number")):
        if because == "request":
            tx.execute("tokens/insert_requests", chain_id=chain_id)
        tx.execute("tokens/update_known", chain_id=chain_id, because=because)
        tx.execute("tokens/insert_new", chain_id=chain_id, because=because)


def set_transfers_from(
    tx: Transaction, *, chain_id: int, addresses: Sequence[Address], block_number: int
) -> None:
    """Record that all transfers of these tokens from the block on are stored.

    An earlier recorded block is kept.
    """
    frame = pl.DataFrame({"address": pl.Series(addresses, dtype=pl.String)})
    seen = frame.with_columns(pl.lit(block_number, pl.Int64).alias("block_number"))
    with tx.frame("incoming_token", seen):
        tx.execute("tokens/update_transfers_from", chain_id=chain_id)


def tracked(store: Readable, *, chain_id: int) -> list[TokenRow]:
    """Return all tracked tokens of a chain, oldest first."""
    return store.fetch("tokens/list_tracked", TokenRow, chain_id=chain_id)


def read_token(store: Readable, *, chain_id: int, address: Address) -> TokenRow | None:
    """Return one token, or None when it is not tracked."""
    return store.fetch_one("tokens/find_token", TokenRow, chain_id=chain_id, address=address)
