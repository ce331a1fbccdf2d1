"""Token launches: tokens issued by launch platforms, from the platforms' creation events."""

from collections.abc import Sequence

import msgspec
import polars as pl

from core.primitives import Address
from sql.columns import encode, table_schema
from sql.rows import LaunchRow
from sql.store import Readable, Transaction


class _Count(msgspec.Struct, frozen=True, kw_only=True):
    count: int


def insert_launches(tx: Transaction, launches: pl.DataFrame | Sequence[LaunchRow]) -> int:
    """Store launches that are not stored yet; return how many were new.

    A frame has the columns of LaunchRow, in any order.
    """
    frame = launches if isinstance(launches, pl.DataFrame) else encode(launches, LaunchRow)
    if not frame.height:
        return 0
    schema = table_schema("launch")
    before = _count(tx)
    with tx.frame("incoming_launch", frame.select(pl.col(n).cast(t) for n, t in schema.items())):
        tx.execute("launches/insert_new")
    return _count(tx) - before


def launches_of(store: Readable, *, chain_id: int, token: Address) -> list[LaunchRow]:
    """Return the launches of the token in event order; empty if no indexed platform issued it."""
    return store.fetch("launches/list_of_token", LaunchRow, chain_id=chain_id, token=token)


def _count(tx: Transaction) -> int:
    found = tx.fetch_one("launches/count_all", _Count)
    return 0 if found is None else found.count
