"""assay index: follow a chain, or back-fill a range of it."""

import asyncio
import os
from contextlib import AsyncExitStack, closing

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from commands.nodes import connect, find_chain
from commands.stores import open_store
from commands.tables import OUT
from config.chains import Chain
from config.settings import load_settings
from config.settings_model import Settings
from core.stop_signals import stop_on_signals
from indexer.backfill import BackfillProgress, backfill
from indexer.follow import follow
from sql.follow_lock import following
from sql.store_files import StoreFiles


@click.command("index")
@click.argument("chain")
@click.option("--from", "from_block", type=click.IntRange(0), help="First block; else follow.")
@click.option("--to", "to_block", type=click.IntRange(0), help="Last block; else the last final.")
def index_command(chain: str, from_block: int | None, to_block: int | None) -> None:
    """Follow a chain, or back-fill a range of it and end. Goes on where it was left.

    Example: assay index ethereum --from 10000835 --to 10100000
    """
    settings = load_settings(os.environ)
    asyncio.run(_index(settings, find_chain(settings, chain), from_block, to_block))


async def _index(
    settings: Settings, chain: Chain, from_block: int | None, to_block: int | None
) -> None:
    stop = asyncio.Event()
    stop_on_signals(stop)
    async with AsyncExitStack() as stack:
        store = stack.enter_context(closing(open_store(settings.store)))
        client = await connect(stack, chain, settings)
        if from_block is None and to_block is None:
            stack.enter_context(following(StoreFiles(prefix=settings.store), chain.id))
            await follow(chain, client, store, settings.indexer, stop=stop)
            return
        head = await client.fetch_head()
        last = max(0, head.number - chain.finality_blocks) if to_block is None else to_block
        first = _start_of(chain) if from_block is None else from_block
        columns = (TextColumn("blocks"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task("blocks", total=last - first + 1)

            def show(progress: BackfillProgress) -> None:
                bar.update(task, completed=progress.done_to - first + 1)

            result = await backfill(
                chain,
                client,
                store,
                settings.indexer,
                from_block=first,
                to_block=last,
                progress=show,
            )
        OUT.print(
            f"blocks {first} to {result.done_to}: {result.rows} rows of {result.logs} logs in "
            f"{result.seconds:.1f} s, {result.logs_per_s:.0f} logs/s"
        )
        if result.done_to < last:
            _tell_rest(chain, result.done_to + 1, last)


def _tell_rest(chain: Chain, first: int, last: int) -> None:
    """Say what is not stored yet, and end with 1. Raises ClickException."""
    wait_s = (last - first + 1) * chain.block_time_s
    message = (
        f"blocks {first} to {last} are not final yet, and following does not hold them. Run the "
        f"same again in about {wait_s:.0f} s, or follow {chain.slug}"
    )
    raise click.ClickException(message)


def _start_of(chain: Chain) -> int:
    """Where a chain's exchanges begin, as far as the chain file knows."""
    known = [dex.from_block for dex in chain.dexes if dex.from_block is not None]
    return min(known, default=chain.start_block or 0)
