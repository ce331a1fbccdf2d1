"""Work of `assay status`: progress of each followed chain."""

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, closing

from rich.table import Table

from assay.commands.runs.nodes import connect
from assay.commands.runs.tables import OUT, cell_text, make_console
from config.facts.chain import Chain
from config.facts.load_chains import choose_enabled, load_chains
from config.load_settings import load_settings
from config.settings import Settings
from config.store_address import FileAddress, PostgresAddress
from core.errors import UpstreamError
from core.evm.primitives import BlockRef
from indexer.head.stored_tip import read_tip
from sql.chain.blocks import ChainCounts, read_counts
from sql.engine.fleet_database import open_registry
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake.lake_size import LakeSize, measure_lake

_EXIT_STALE = 1

_LEAST_WIDTH = 120

_COLUMNS = (
    *("chain", "head", "tip", "lag", "pools", "transfers", "histories", "queue"),
    *("lake MB", "MB a day", "state"),
)

_STALE_AFTER_S = 60.0
"""A chain is stale if its tip is behind the head by blocks worth more than this. Without a node,
the age of the tip counts."""


def run_status() -> None:
    """Print one row per chain. Exits with 1 if a chain is stale. Raises ConfigError, StoreError."""
    settings = load_settings(os.environ)
    known = load_chains(settings.overlay)
    enabled = choose_enabled(known, settings)
    with closing(Store.open(settings.store, must_exist=True)) as store:
        counts = read_counts(store)
        others = {
            chain.id: read_tip(store, chain.id) for chain in _without_node(known, enabled, settings)
        }
    chains = [chain for chain in known if chain in enabled or chain.id in others]
    lake = measure_lake(settings.store, now_s=time.time())
    table = Table(*_COLUMNS)
    is_stale = False
    for chain in chains:
        found = counts.get(chain.id)
        if chain.id in others:
            head, lag = None, None
            fresh = _is_recent(chain, others[chain.id])
        else:
            head = asyncio.run(_head_of(settings, chain))
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
    # A truncated number is useless, on narrow terminals too.
    make_console(max(OUT.width, _LEAST_WIDTH)).print(table)
    if isinstance(settings.store, FileAddress):
        size = StoreFiles(prefix=settings.store.path).serving.stat().st_size
        OUT.print(f"serving state: {_megabytes(size)} MB, of all chains")
    if is_stale:
        sys.exit(_EXIT_STALE)


def _without_node(
    known: Sequence[Chain], enabled: Sequence[Chain], settings: Settings
) -> list[Chain]:
    """Return the chains of the fleet without a node here. Raises StoreError."""
    if not isinstance(settings.store, PostgresAddress):
        return []
    with open_registry(settings.store) as registry:
        ids = {one.chain_id for one in registry.chains()}
    return [chain for chain in known if chain.id in ids and chain not in enabled]


def _is_recent(chain: Chain, tip: BlockRef | None) -> bool:
    """True if the newest stored block is so recent that the chain is being followed."""
    return tip is not None and time.time() - tip.time_s <= _STALE_AFTER_S + chain.block_time_s


def _rows(found: ChainCounts | None, lake: LakeSize, chain_id: int) -> tuple[object, ...]:
    """Return the cells of a chain from the column `pools` on."""
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
    """Fetch the number of the head. A text: the error."""
    try:
        async with AsyncExitStack() as stack:
            client = await connect(stack, chain, settings)
            return (await client.fetch_head()).number
    except UpstreamError as error:
        return str(error)
