"""assay status: how far each chain has been followed."""

import asyncio
import os
import sys
from contextlib import AsyncExitStack

import click
from rich.table import Table

from commands.nodes import connect
from commands.tables import OUT, cell_text
from config.chains import Chain
from config.load import choose_enabled, load_chains
from config.settings import load_settings
from config.settings_model import Settings
from core.errors import UpstreamError
from sql.chain_progress import read_counts

_EXIT_STALE = 1

_STALE_AFTER_S = 60.0
"""A chain is stale when its tip is behind the head by blocks worth more than this."""


@click.command("status")
def status_command() -> None:
    """Per chain: head, tip, lag, rows, queue. Ends with 1 when a chain is stale.

    Example: assay status
    """
    settings = load_settings(os.environ)
    chains = choose_enabled(load_chains(settings.overlay), settings)
    counts = read_counts(settings.store)
    table = Table(
        "chain", "head", "tip", "lag", "pools", "transfers", "histories", "queue", "state"
    )
    is_stale = False
    for chain in chains:
        head = asyncio.run(_head_of(settings, chain))
        found = counts.get(chain.id)
        lag = None if isinstance(head, str) or found is None else max(0, head - found.tip)
        fresh = lag is not None and lag * chain.block_time_s <= _STALE_AFTER_S
        is_stale |= not fresh
        rows = (
            (None,) * 4
            if found is None
            else (found.pools, found.transfers, found.whole_histories, found.queue)
        )
        state = head if isinstance(head, str) else "fresh" if fresh else "stale"
        cells = (None if isinstance(head, str) else head, found.tip if found else None, lag, *rows)
        table.add_row(chain.slug, *map(cell_text, cells), cell_text(state))
    OUT.print(table)
    if is_stale:
        sys.exit(_EXIT_STALE)


async def _head_of(settings: Settings, chain: Chain) -> int | str:
    """The head's number, or why there is none."""
    try:
        async with AsyncExitStack() as stack:
            client = await connect(stack, chain, settings)
            return (await client.fetch_head()).number
    except UpstreamError as error:
        return str(error)
