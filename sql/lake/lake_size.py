"""Size and growth of the lake, for operators."""

from contextlib import closing

import duckdb
import msgspec

from core.errors import StoreError
from sql.lake.find_place import LakeOwner, place_of
from sql.lake.lake_statements import load_lake_statement
from sql.lake.open_store import open_to_read

_MEMORY_MB = 200
_DAY_S = 86_400


class TableSize(msgspec.Struct, frozen=True, kw_only=True):
    """One table of one chain."""

    chain_id: int
    table: str
    files: int
    rows: int
    """Rows in files; dropped rows count until their files are rewritten."""
    bytes: int


class ChainGrowth(msgspec.Struct, frozen=True, kw_only=True):
    """Rows that the follower of a chain added in the last day, without back-fills."""

    chain_id: int
    rows: int


class LakeSize(msgspec.Struct, frozen=True, kw_only=True):
    """Size of a lake."""

    tables: tuple[TableSize, ...]
    """In order of chain and table; only tables with files."""
    growth: tuple[ChainGrowth, ...]

    def bytes_of(self, chain_id: int) -> int:
        """Return the total size of a chain's files."""
        return sum(table.bytes for table in self.tables if table.chain_id == chain_id)

    def bytes_per_day(self, chain_id: int) -> int:
        """Return the estimated growth of a chain in bytes per day, from the average row size."""
        rows = sum(table.rows for table in self.tables if table.chain_id == chain_id)
        came = sum(each.rows for each in self.growth if each.chain_id == chain_id)
        return came * self.bytes_of(chain_id) // rows if rows else 0


def measure_lake(owner: LakeOwner, *, now_s: float) -> LakeSize:
    """Measure the lake of a store, also while it is being written. Empty without a lake.

    Reads its catalogue and notes, no rows. Raises StoreError.
    """
    place = place_of(owner)
    if not place.has_lake():
        return LakeSize(tables=(), growth=())
    try:
        with closing(open_to_read(place, memory_mb=_MEMORY_MB)) as store:
            tables = store.execute(load_lake_statement("list_sizes")).fetchall()
            since = {"since_s": int(now_s) - _DAY_S}
            growth = store.execute(load_lake_statement("list_growth"), since).fetchall()
    except duckdb.Error as error:
        raise StoreError(path=place.name, reason=place.masked(str(error))) from None
    return LakeSize(
        tables=tuple(
            TableSize(chain_id=row[0], table=row[1], files=row[2], rows=row[3], bytes=row[4])
            for row in tables
        ),
        growth=tuple(ChainGrowth(chain_id=row[0], rows=row[1]) for row in growth),
    )
