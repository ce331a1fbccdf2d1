"""Liquidity pools, and the block ranges whose pool creation events are fully ingested."""

from collections.abc import Sequence

import msgspec
import polars as pl

from core.primitives import Address
from sql.columns import encode, table_schema
from sql.rows import CoverageRow, PoolRow
from sql.store import Readable, Transaction

_ROWS_A_PART = 1_000


class _Count(msgspec.Struct, frozen=True, kw_only=True):
    count: int


def insert_pools(tx: Transaction, pools: pl.DataFrame | Sequence[PoolRow]) -> int:
    """Store pools that are not stored yet; return how many were new.

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
    """Return the pools with the token on one side, in order of creation.

    `quotes` keeps only pools with one of these on the other side; needed for tokens that are quote
    tokens themselves, as those have pools without number. `at_most` bounds the pools per contract
    (one may hold all): half of them the oldest and half the newest.
    """
    frame = store.fetch_frame(
        "pools/list_of_token",
        chain_id=chain_id,
        token=token,
        quotes=None if quotes is None else list(quotes),
        at_most=at_most,
    )
    # Of tens of thousands of rows: JSON takes 2 us a row from column to struct, Python values 5; in
    # slices, to bound the size of the text.
    return [
        row
        for part in frame.iter_slices(_ROWS_A_PART)
        for row in msgspec.json.decode(part.write_json(), type=list[PoolRow])
    ]


def first_pools_beside(
    store: Readable, *, chain_id: int, token: Address, quotes: Sequence[Address], at_most: int
) -> list[PoolRow]:
    """Return the token's oldest pools that have none of the quotes on the other side."""
    return store.fetch(
        "pools/list_first_beside",
        PoolRow,
        chain_id=chain_id,
        token=token,
        quotes=list(quotes),
        at_most=at_most,
    )


def coverage_of(store: Readable, *, chain_id: int) -> list[CoverageRow]:
    """Return the gapless block ranges of a chain; those of one subject neither touch nor
    overlap."""
    return store.fetch("coverage/list_ranges", CoverageRow, chain_id=chain_id)


def _count(tx: Transaction) -> int:
    found = tx.fetch_one("pools/count_all", _Count)
    return 0 if found is None else found.count
