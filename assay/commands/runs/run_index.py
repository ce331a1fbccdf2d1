"""Work of `assay index`: follows one chain, or back-fills a range of it."""

import asyncio
import gc
import os
from contextlib import AsyncExitStack, closing

import click
import structlog

from assay.commands.runs.nodes import asking_nodes_of, connect, find_chain
from assay.commands.runs.progress import progress_bars
from assay.commands.runs.stores import open_store
from config.facts.chain import Chain
from config.load_settings import load_settings
from config.settings import Settings
from core.process.allocator import share_one_arena
from core.process.stop_signals import run_until_stop, stop_on_signals
from core.rpc.client import RpcClient
from indexer.history.backfill import BackfillProgress, BackfillResult, backfill
from sql.chain.follow_lock import hold_follow_lock
from sql.chain.quote_tokens import write_quote_tokens
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles

_YOUNG_OBJECTS = 10_000
"""Objects after which the garbage collector runs in a back-fill."""

_STEP_WITHIN_S = 3.0
"""Seconds for a running step to end after a signal."""

_END_WITHIN_S = 20.0
"""Seconds from a signal to the end of the process, whatever hangs."""

_LOG = structlog.get_logger("assay")


def run_index(name: str, from_block: int | None, to_block: int | None) -> None:
    """Back-fill the range of the chain of that name; without a range, follow it until SIGINT or
    SIGTERM.

    Raises BadParameter, ConfigError, StoreError, UpstreamError.
    """
    if from_block is not None and to_block is not None:
        _check_range(from_block, to_block)
    share_one_arena()
    settings = load_settings(os.environ)
    chain = find_chain(settings, name)
    with asking_nodes_of(chain):
        asyncio.run(_index(settings, chain, from_block, to_block))


def _check_range(first: int, last: int) -> None:
    """Raise BadParameter for a range that ends before its start."""
    if first > last:
        reason = f"the range ends at block {last}, before its first block {first}"
        raise click.BadParameter(reason, param_hint="--from and --to")


async def _index(
    settings: Settings, chain: Chain, from_block: int | None, to_block: int | None
) -> None:
    stop = asyncio.Event()
    stop_on_signals(stop, within_s=_END_WITHIN_S)
    work = _work(settings, chain, from_block, to_block, stop)
    # A follower completes its step. Rows of a back-fill are committed with its checkpoint.
    is_ended = await run_until_stop(work, stop, patience_s=_STEP_WITHIN_S)
    if not is_ended and not _is_follower(from_block, to_block):
        message = f"stopped before the end; the same command continues with {chain.slug}"
        raise click.ClickException(message)


async def _work(
    settings: Settings,
    chain: Chain,
    from_block: int | None,
    to_block: int | None,
    stop: asyncio.Event,
) -> bool:
    """Follow, or back-fill. Returns True at the end."""
    async with AsyncExitStack() as stack:
        store = stack.enter_context(closing(open_store(settings.store)))
        write_quote_tokens(store, [chain])
        client = await connect(stack, chain, settings)
        if _is_follower(from_block, to_block):
            await _follow(chain, client, store, settings, stop)
            return True
        head = await client.fetch_head()
        last = max(0, head.number - chain.finality_blocks) if to_block is None else to_block
        first = _start_of(chain) if from_block is None else from_block
        _check_range(first, last)
        try:
            result = await _backfill(chain, client, store, settings, first=first, last=last)
        finally:
            # A write goes on in its thread when it is cancelled, and needs the store.
            await asyncio.get_running_loop().shutdown_default_executor()
        click.echo(
            f"blocks {first} to {result.done_to}: {result.rows} rows of {result.logs} logs in "
            f"{result.seconds:.1f} s, {result.logs_per_s:.0f} logs/s"
        )
        if result.done_to < last:
            _report_rest(chain, result.done_to + 1, last)
        return True


def _is_follower(from_block: int | None, to_block: int | None) -> bool:
    return from_block is None and to_block is None


def _report_rest(chain: Chain, first: int, last: int) -> None:
    """Report the blocks that are not final yet. Raises ClickException, so the exit code is 1."""
    wait_s = (last - first + 1) * chain.block_time_s
    message = (
        f"blocks {first} to {last} are not final yet, and following does not hold them. Run the "
        f"same again in about {wait_s:.0f} s, or follow {chain.slug}"
    )
    raise click.ClickException(message)


async def _follow(
    chain: Chain, client: RpcClient, store: Store, settings: Settings, stop: asyncio.Event
) -> None:
    from indexer.head.follow import follow  # noqa: PLC0415 - a back-fill does not need it

    with hold_follow_lock(StoreFiles(prefix=settings.store.prefix), chain.id):
        _LOG.info("following", chain=chain.slug, store=str(settings.store))
        await follow(chain, client, store, settings.indexer, stop=stop)


async def _backfill(
    chain: Chain, client: RpcClient, store: Store, settings: Settings, *, first: int, last: int
) -> BackfillResult:
    # Rows of a chunk are freed together, tens of thousands at a time: a collection after every 700
    # objects finds no cycles.
    gc.set_threshold(_YOUNG_OBJECTS)
    with progress_bars() as show:

        def report(progress: BackfillProgress) -> None:
            show(
                f"back-filling {chain.display_name}", progress.done_to - first + 1, last - first + 1
            )

        return await backfill(
            chain,
            client,
            store,
            settings.indexer,
            from_block=first,
            to_block=last,
            progress=report,
        )


def _start_of(chain: Chain) -> int:
    """Return the first block of a chain's exchanges, as far as configured."""
    known = [dex.from_block for dex in chain.dexes if dex.from_block is not None]
    return min(known, default=chain.start_block or 0)
