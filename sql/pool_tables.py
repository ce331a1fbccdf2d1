"""Pools and the block ranges that have been gone through for them."""

from collections.abc import Sequence

import msgspec
import polars as pl

from config.primitives import Address
from sql.columns import encode, table_schema
from sql.rows import CoverageRow, PoolRow
from sql.store import Readable, Transaction

_ROWS_A_PART = 1_000


class _Count(msgspec.Struct, frozen=True, kw_only=True):
    count: int


def insert_pools(tx: Transaction, pools: pl.DataFrame | Sequence[PoolRow]) -> int:
    """Store the pools that are not stored yet; returns how many those were.

    A frame has the columns of PoolRow, in any order.
    """
    frame = pools if isinstance(pools, pl.DataFrame) else encode(pools, PoolRow)
    if not frame.height:
        return 0
    schema = table_schema("pool")
    before = _count(tx)
    with tx.frame("incoming_pool", frame.select(pl.col(n).cast(t) for n, t in schema.items())):
        tx.execute("pools/insert_new")
    return _count(tx) - before


def pools_of(
    store: Readable,
    *,
    chain_id: int,
    token: Address,
    quotes: Sequence[Address] | None = None,
    at_most: int | None = None,
) -> list[PoolRow]:
    """The pools that have the token on one side, in order of creation.

    With `quotes`, only those with one of these on the other side: ask so for anything that may
    be a quote token itself, as those have pools without number. `at_most`: of one contract (AmmV4's
    manager has all) no more than so many, half of them the first made and half the newest.
    """
    frame = store.fetch_frame(
        "pools/list_of_token",
        chain_id=chain_id,
        token=token,
        quotes=None if quotes is None else list(quotes),
        at_most=at_most,
    )
    # Of tens of thousands: by JSON a row takes 2 us from column to struct, by Python values 5; in
    # parts, so that the text is small.
    return [
        row
        for part in frame.iter_slices(_ROWS_A_PART)
        for row in msgspec.json.decode(part.write_json(), type=list[PoolRow])
    ]


def first_pools_beside(
    store: Readable, *, chain_id: int, token: Address, quotes: Sequence[Address], at_most: int
) -> list[PoolRow]:
    """The token's oldest pools that have none of the quotes on the other side."""
    return store.fetch(
        "pools/list_first_beside",
        PoolRow,
        chain_id=chain_id,
        token=token,
        quotes=list(quotes),
        at_most=at_most,
    )


def coverage_of(store: Readable, *, chain_id: int) -> list[CoverageRow]:
    """The gapless ranges of a chain; those of one subject neither touch nor overlap."""
    return store.fetch("coverage/list_ranges", CoverageRow, chain_id=chain_id)


def _count(tx: Transaction) -> int:
    found = tx.fetch_one("pools/count_all", _Count)
    return 0 if found is None else found.count
