"""Bounds the lake on disk: the oldest transfers of a chain go first, and trades by their age.

Balances and reports do not change by it: they live in the serving state and contain what goes here.
Analysts' views end where the rows do.
"""

from collections.abc import Iterable, Sequence

import msgspec

from sql.lake.lake_file import Lake

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
