"""Swaps in pools with an anchor token (wrapped native or stable) on one side."""

from collections.abc import Sequence

import msgspec
import polars as pl

from core.primitives import Address
from sql.store import Readable, Transaction


class Trade(msgspec.Struct, frozen=True, kw_only=True):
    """One swap, seen from one of its two tokens."""

    chain_id: int
    block_number: int
    log_index: int
    time_s: int
    """Timestamp of its block, Unix seconds."""
    pool_key: str
    base: float
    """Unsigned amount of the requested token, in smallest units."""
    other: float
    """Unsigned amount of the other token, in smallest units."""


class _Count(msgspec.Struct, frozen=True, kw_only=True):
    count: int


def insert_trades(tx: Transaction, frame: pl.DataFrame, *, anchors: Sequence[Address]) -> int:
    """Store trades of known pools that are not stored yet; return how many were new.

    Columns chain_id, block_number, log_index, time_s, pool_key, amount0, amount1, emitter, and
    kinds: a list of the pool kinds whose swap events have that form.
    """
    if not frame.height:
        return 0
    before = _count(tx)
    with tx.frame("incoming_trade", frame):
        tx.execute("trades/insert_new", anchors=list(anchors))
    return _count(tx) - before


def newest_trades(
    store: Readable,
    *,
    chain_id: int,
    token: Address,
    pool_keys: Sequence[str],
    from_block: int,
    at_most: int,
) -> list[Trade]:
    """Return trades in these pools, which have the token on one side, newest first."""
    return store.fetch(
        "trades/list_newest",
        Trade,
        chain_id=chain_id,
        token=token,
        pool_keys=list(pool_keys),
        from_block=from_block,
        at_most=at_most,
    )


def delete_old_trades(tx: Transaction, *, chain_id: int, kept_s: float) -> None:
    """Delete trades older than the newest stored block by more than `kept_s` seconds."""
    tx.execute("trades/delete_old", chain_id=chain_id, kept_s=int(kept_s))


def _count(tx: Transaction) -> int:
    found = tx.fetch_one("trades/count_all", _Count)
    return 0 if found is None else found.count
