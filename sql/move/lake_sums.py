"""Comparison of two lakes: of each table the number of rows and the sum of their hashes."""

from collections.abc import Callable
from contextlib import closing
from typing import Final

import duckdb
import msgspec

from core.errors import StoreError
from sql.lake.lake_file import MEMORY_MB, connect_duckdb
from sql.lake.lake_place import LakePlace
from sql.lake.lake_statements import load_lake_statement


class _TableSum(msgspec.Struct, frozen=True):
    rows: int
    hashes: int
    """Sum of a 64-bit hash over all columns of each row."""


_SUM: Final = "select count(*), coalesce(sum(hash(t)::hugeint), 0) from lake.{table} as t"


def check_lakes(source: LakePlace, target: LakePlace, show: Callable[[str, int, int], None]) -> int:
    """Return the number of rows of all tables; both lakes are read whole.

    Raises StoreError where a table differs.
    """
    wanted = _sums_of(source, lambda done, total: show("reading the lake", done, total))
    found = _sums_of(target, lambda done, total: show("checking the lake", done, total))
    for table in sorted(wanted.keys() | found.keys()):
        if wanted.get(table) != found.get(table):
            reason = (
                f"table {table} of the lake has {_told(found, table)}, and "
                f"{_told(wanted, table)} where it was moved from"
            )
            raise StoreError(path=target.name, reason=reason)
    return sum(each.rows for each in wanted.values())


def _told(sums: dict[str, _TableSum], table: str) -> str:
    found = sums.get(table)
    return "no columns" if found is None else f"{found.rows} rows with the sum {found.hashes}"


def _sums_of(place: LakePlace, show: Callable[[int, int], None]) -> dict[str, _TableSum]:
    try:
        with closing(connect_duckdb(memory_mb=MEMORY_MB, spill=None, place=place)) as connection:
            connection.execute(place.attach_lake(is_read_only=True))
            names = connection.execute(load_lake_statement("list_tables")).fetchall()
            sums = {}
            for at, (name,) in enumerate(names, start=1):
                found = connection.execute(_SUM.format(table=name)).fetchone() or (0, 0)
                sums[str(name)] = _TableSum(int(found[0]), int(found[1]))
                show(at, len(names))
            return sums
    except duckdb.Error as error:
        # Their words may repeat the password.
        raise StoreError(path=place.name, reason=place.masked(str(error))) from None
