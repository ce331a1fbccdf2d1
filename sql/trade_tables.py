"""Swaps in pools with an anchor on one side."""

from collections.abc import Sequence

import msgspec
import polars as pl

from config.primitives import Address
from sql.store import Readable, Transaction


class Trade(msgspec.Struct, frozen=True, kw_only=True):
    """One swap, as seen from one of its two tokens."""

    chain_id: int
    block_number: int
    log_index: int
    time_s: int
    """Of its block."""
    pool_key: str
    base: float
    """What moved of the token asked for, in smallest units, without sign."""
    other: float
    """What moved on the other side."""


class _Count(msgspec.Struct, frozen=True, kw_only=True):
    count: int


def insert_trades(tx: Transaction, frame: pl.DataFrame, *, anchors: Sequence[Address]) -> int:
    """Store the trades of known pools that are not stored yet; returns how many those were.

    Columns chain_id, block_number, log_index, time_s, pool_key, amount0, amount1, emitter, and
    kinds: a list of the kinds of pool whose swaps have that form.
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
    """Trades in these pools, which have the token on one side, newest first."""
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
    """Forget the trades that are so much older than the newest block that is held."""
    tx.execute("trades/delete_old", chain_id=chain_id, kept_s=int(kept_s))


def _count(tx: Transaction) -> int:
    found = tx.fetch_one("trades/count_all", _Count)
    return 0 if found is None else found.count
