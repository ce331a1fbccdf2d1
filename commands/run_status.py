"""The work of `assay status`: how far each chain has been followed."""

import asyncio
import os
import sys
import time
from contextlib import AsyncExitStack, closing

from rich.table import Table

from commands.nodes import connect
from commands.tables import OUT, cell_text, make_console
from config.chains import Chain
from config.load import choose_enabled, load_chains
from config.settings import load_settings
from config.settings_model import Settings
from config.store_address import FileAddress, PostgresAddress, StoreAddress
from core.errors import UpstreamError
from sql.chain_progress import ChainCounts, read_counts
from sql.lake.lake_size import LakeSize, measure_lake
from sql.store import Store
from sql.store_files import StoreFiles

_EXIT_STALE = 1

_LEAST_WIDTH = 120

_COLUMNS = (
    *("chain", "head", "tip", "lag", "pools", "transfers", "histories", "queue"),
    *("lake MB", "MB a day", "state"),
)

_STALE_AFTER_S = 60.0
"""A chain is stale when its tip is behind the head by blocks worth more than this."""


def run_status() -> None:
    """Print a row a chain. Ends with 1 when a chain is stale. Raises ConfigError, StoreError."""
    settings = load_settings(os.environ)
    chains = choose_enabled(load_chains(settings.overlay), settings)
    with closing(Store.open(settings.store, must_exist=True)) as store:
        counts = read_counts(store)
    lake = _lake_of(settings.store)
    table = Table(*_COLUMNS)
    is_stale = False
    for chain in chains:
        head = asyncio.run(_head_of(settings, chain))
        found = counts.get(chain.id)
        lag = None if isinstance(head, str) or found is None else max(0, head - found.tip)
        fresh = lag is not None and lag * chain.block_time_s <= _STALE_AFTER_S
        is_stale |= not fresh
        state = head if isinstance(head, str) else "fresh" if fresh else "stale"
        cells = (
            None if isinstance(head, str) else head,
            found.tip if found else None,
            lag,
            *_rows(found, lake, chain.id),
        )
        table.add_row(chain.slug, *map(cell_text, cells), cell_text(state))
    # A number cut short is no use, however narrow the terminal is.
    make_console(max(OUT.width, _LEAST_WIDTH)).print(table)
    if isinstance(settings.store, FileAddress):
        size = StoreFiles(prefix=settings.store.path).serving.stat().st_size
        OUT.print(f"serving state: {_megabytes(size)} MB, of all chains")
    if is_stale:
        sys.exit(_EXIT_STALE)


def _lake_of(address: StoreAddress) -> LakeSize:
    """Return what the lake takes; nothing of one in PostgreSQL, which has no lake yet."""
    if isinstance(address, PostgresAddress):
        return LakeSize(tables=(), growth=())
    return measure_lake(StoreFiles(prefix=address.path), now_s=time.time())


def _rows(found: ChainCounts | None, lake: LakeSize, chain_id: int) -> tuple[object, ...]:
    """What is stored of a chain, for the columns from `pools` on."""
    if found is None:
        return (None,) * 6
    stored = sum(
        table.rows
        for table in lake.tables
        if table.chain_id == chain_id and table.table == "transfer"
    )
    return (
        found.pools,
        found.transfers + stored,
        found.whole_histories,
        found.queue,
        _megabytes(lake.bytes_of(chain_id)),
        _megabytes(lake.bytes_per_day(chain_id)),
    )


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f}"


async def _head_of(settings: Settings, chain: Chain) -> int | str:
    """The head's number, or why there is none."""
    try:
        async with AsyncExitStack() as stack:
            client = await connect(stack, chain, settings)
            return (await client.fetch_head()).number
    except UpstreamError as error:
        return str(error)
