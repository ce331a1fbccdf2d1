"""Upkeep of the lake's files: merges small ones, deletes unreferenced ones, bounds size and age.

Files are merged by class of size, so a row is rewritten two or three times in its life, and a merge
takes at most `TARGET_BYTES`: its sort spills to disk within the lake's memory limit. Each step is
one transaction; a process that ends within one leaves an unreferenced file. Balances and reports do
not depend on dropped rows: they are in the serving state.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from sql.lake.lake_file import Lake

TARGET_BYTES: Final = 160_000_000
"""Size of a merged file: about four million transfers."""

KEPT_S: Final = 7_200
"""Seconds for which old snapshots and their files stay for running reads. They are deleted on the
next day."""

_DAY_S = 86_400

ORPHANS_AFTER_S: Final = 86_400
"""Age at which an unreferenced file is deleted: a younger one may be in the making."""

MOST_INLINED: Final = 10_000
"""Number of inlined rows in the catalogue above which they are written to files."""

_CLASSES: Final = ((4_000_000, 8), (60_000_000, 4))
"""Classes of files: upper limit in bytes, and number of files of one chain to merge."""

_REWRITTEN: Final = ("transfer", "trade")


class _Small(msgspec.Struct, frozen=True, kw_only=True):
    table_name: str
    chain: str | None
    files: int


class _Merged(msgspec.Struct, frozen=True, kw_only=True):
    table_name: str
    files_processed: int
    files_created: int


class _Count(msgspec.Struct, frozen=True, kw_only=True):
    rows: int


def merge_small_files(lake: Lake, *, step: Callable[[], None] = lambda: None) -> int:
    """Merge the small files of chains that have many; return the number of merged files.

    `step` is called after each merge; it may raise to stop.
    """
    merged = 0
    for max_bytes, enough in _CLASSES:
        found = lake.fetch("list_small_files", _Small, max_bytes=max_bytes)
        for table in sorted({each.table_name for each in found if each.files >= enough}):
            while gone := _merge(lake, table, max_bytes):
                merged += gone
                step()
    return merged


def clean(lake: Lake, *, now_s: float, kept_s: float = KEPT_S) -> None:
    """Delete snapshots older than `kept_s`, and unreferenced files."""
    (inlined,) = lake.fetch("count_inlined", _Count)
    if inlined.rows > MOST_INLINED:
        lake.execute("flush_inlined")
    for table in _REWRITTEN:
        lake.fetch("rewrite_files", _Merged, table=table)
    before_s = _end_of_day_before(now_s - kept_s)
    lake.execute("expire_snapshots", before_s=before_s)
    lake.execute("delete_old_files", before_s=before_s)
    lake.execute("delete_orphans", before_s=now_s - max(kept_s, ORPHANS_AFTER_S))


def _end_of_day_before(time_s: float) -> int:
    """Return the last second of the previous day, in UTC.

    DuckLake compares times of a SQLite catalogue as texts in two formats, which is only right
    between days: within a day, every time counts as older.
    """
    return int(time_s) // _DAY_S * _DAY_S - 1


def _merge(lake: Lake, table: str, max_bytes: int) -> int:
    """Merge once; return the number of merged files, 0 if there was nothing to merge."""
    found = lake.fetch("merge_files", _Merged, table=table, max_bytes=max_bytes)
    return sum(each.files_processed for each in found if each.files_processed > 1)


CHAIN_TABLES = ("transfer", "trade", "undecoded")
"""Tables with separate files for each chain."""


class DataFile(msgspec.Struct, frozen=True, kw_only=True):
    """One Parquet file of one chain."""

    chain_id: int
    rows: int
    bytes: int
    first_block: int | None
    last_block: int | None
    last_time_s: int | None
    """Unix seconds of its newest row. None: its rows have no times."""


def apply_budget(lake: Lake, chain_id: int, *, max_bytes: int) -> int | None:
    """Delete the oldest transfers of a chain if its files exceed a limit.

    Deletes whole files, and equally old rows of others. Returns the last deleted block, or None.
    """
    kept = {table: list_files(lake, table, chain_id) for table in CHAIN_TABLES}
    excess = sum(file.bytes for files in kept.values() for file in files) - max_bytes
    to_block = last_block_to_drop(kept["transfer"], excess_bytes=excess)
    if to_block is not None:
        lake.execute("delete_transfers_to", chain_id=chain_id, to_block=to_block)
    return to_block


def drop_old_trades(lake: Lake, chain_id: int, *, before_s: int) -> int | None:
    """Delete the trades of a chain before a time, in whole files: some stay a little longer.

    Returns the last deleted second, or None.
    """
    times = [file.last_time_s for file in list_files(lake, "trade", chain_id)]
    old = [time_s for time_s in times if time_s is not None and time_s < before_s]
    if not old:
        return None
    lake.execute("delete_trades_to", chain_id=chain_id, to_s=max(old))
    return max(old)


def last_block_to_drop(files: Sequence[DataFile], *, excess_bytes: int) -> int | None:
    """Return the block up to which the oldest files have at least this excess. None: no excess, or
    no files."""
    to_block = None
    for file in _oldest_first(files):
        if excess_bytes <= 0:
            break
        excess_bytes -= file.bytes
        to_block = file.last_block
    return to_block


def list_files(lake: Lake, table: str, chain_id: int) -> list[DataFile]:
    """Return the files of a table that have rows of a chain."""
    files = lake.fetch("list_data_files", DataFile, table=table)
    return [file for file in files if file.chain_id == chain_id]


def _oldest_first(files: Iterable[DataFile]) -> list[DataFile]:
    return sorted(files, key=lambda file: file.last_block or 0)
