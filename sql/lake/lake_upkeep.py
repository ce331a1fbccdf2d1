"""Keeps the number of files of the lake small: merges neighbours, deletes what nothing refers to.

Files are merged by class of size, so that a row is rewritten twice or three times in its life, and
never more than `TARGET_BYTES` at once: the sort spills to disk within the lake's memory limit.
Each step is one transaction; a process that ends within one leaves a file nothing refers to.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from sql.lake.lake_file import Lake

TARGET_BYTES: Final = 160_000_000
"""Of a merged file: about four million transfers."""

KEPT_S: Final = 7_200
"""Seconds for which former states and their files stay: readers may still be at them. They go on
the day after."""

_DAY_S = 86_400

ORPHANS_AFTER_S: Final = 86_400
"""Age at which a file that nothing refers to is deleted: before, it may be being written."""

MOST_INLINED: Final = 10_000
"""Rows in the catalogue itself above which they are written to files."""

_CLASSES: Final = ((4_000_000, 8), (60_000_000, 4))
"""Size in bytes below which files are of a class, and how many of one chain are merged."""

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
    """Merge where a chain has many small files. Returns the number of files merged.

    `step` is called after each merge; it may raise to end the work there.
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
    """Forget former states older than `kept_s`, and delete files that nothing refers to."""
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
    """Return the last second of the day before, in UTC.

    DuckLake compares times of a SQLite catalogue as texts of two forms, which is right between days
    only: within one, all that is older or newer counts as older.
    """
    return int(time_s) // _DAY_S * _DAY_S - 1


def _merge(lake: Lake, table: str, max_bytes: int) -> int:
    """Merge once. Returns the files that became one; 0: there was nothing to merge."""
    found = lake.fetch("merge_files", _Merged, table=table, max_bytes=max_bytes)
    return sum(each.files_processed for each in found if each.files_processed > 1)


CHAIN_TABLES = ("transfer", "trade", "undecoded")
"""Tables that have a file for each chain."""


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
    """Delete the oldest transfers of a chain while its files have more bytes than allowed.

    Whole files go, and rows of others that are as old. Returns the last block deleted. None:
    nothing was.
    """
    kept = {table: list_files(lake, table, chain_id) for table in CHAIN_TABLES}
    excess = sum(file.bytes for files in kept.values() for file in files) - max_bytes
    to_block = last_block_to_drop(kept["transfer"], excess_bytes=excess)
    if to_block is not None:
        lake.execute("delete_transfers_to", chain_id=chain_id, to_block=to_block)
    return to_block


def drop_old_trades(lake: Lake, chain_id: int, *, before_s: int) -> int | None:
    """Delete trades of a chain that are older, in whole files: some stay a little longer.

    Returns the last second deleted. None: nothing was.
    """
    times = [file.last_time_s for file in list_files(lake, "trade", chain_id)]
    old = [time_s for time_s in times if time_s is not None and time_s < before_s]
    if not old:
        return None
    lake.execute("delete_trades_to", chain_id=chain_id, to_s=max(old))
    return max(old)


def last_block_to_drop(files: Sequence[DataFile], *, excess_bytes: int) -> int | None:
    """Return the block up to which files have at least so many bytes, oldest first. None: no
    excess, or no files."""
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
