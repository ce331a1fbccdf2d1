"""Background maintenance of a chain's tables, in parallel to following.

Finalizes rows, back-fills token histories, and deletes old trades, early and liquidity events,
report history, accuracy counts, disputes, cliffs and lines of the feed.
"""

import asyncio
import contextlib
import time

import structlog

from config.facts.chain import Chain
from config.settings import IndexerSettings
from core.errors import InternalError
from core.process.stop_signals import run_until_stop
from core.rpc.client import RpcClient
from indexer.history.transfer_history import Histories
from sql.chain.blocks import FINAL, FOLLOW, find_final, read_checkpoint
from sql.chain.cliff_tables import delete_old_cliffs
from sql.chain.early_tables import delete_old_early_events
from sql.chain.feed_tables import delete_old_lines
from sql.chain.finalization import finalize_rows
from sql.chain.liquidity_events import delete_old_liquidity
from sql.chain.trade_records import delete_old_real_trades
from sql.chain.trade_tables import delete_old_trades
from sql.engine.store import Store
from sql.reports.accuracy_counts import add_up_counts, delete_old_counts
from sql.reports.disagreement_tables import delete_old_disagreements
from sql.reports.dispute_tables import delete_old_disputes
from sql.reports.report_history import delete_old_history
from sql.tokens.observations import delete_old_observations

_DELETED_EVERY_S = 600.0

_log = structlog.get_logger(__name__)


async def keep_up(
    chain: Chain,
    client: RpcClient,
    store: Store,
    settings: IndexerSettings,
    *,
    stop: asyncio.Event,
) -> None:
    """Run until `stop` is set, which cancels the running work.

    Faults of nodes, disk and store are logged and retried, none is raised.
    """
    histories = Histories(chain, client, store, settings)
    clock_s = asyncio.get_running_loop().time
    delete_at_s = clock_s()
    while not stop.is_set():
        try:
            if clock_s() >= delete_at_s:
                delete_at_s = clock_s() + _DELETED_EVERY_S
                await asyncio.to_thread(_delete_old, chain, store, settings)
            await asyncio.to_thread(_finalize, chain, store)
            await run_until_stop(histories.fetch_next(), stop)
        except (InternalError, OSError) as error:
            # The log may be on the disk that is full.
            with contextlib.suppress(OSError):
                _log.error("maintenance failed, retrying", chain=chain.slug, reason=str(error))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), settings.poll_s)


def _delete_old(chain: Chain, store: Store, settings: IndexerSettings) -> None:
    delete_old_trades(store, chain_id=chain.id, kept_s=settings.trades_kept_s)
    delete_old_real_trades(store, chain_id=chain.id)
    before_s = time.time() - settings.history_kept_s
    delete_old_history(store, chain_id=chain.id, before_s=before_s)
    delete_old_observations(store, chain_id=chain.id, before_s=before_s)
    delete_old_disagreements(store, chain_id=chain.id, before_s=before_s)
    delete_old_counts(store, chain_id=chain.id, before_s=before_s)
    delete_old_disputes(store, chain_id=chain.id, before_s=before_s)
    delete_old_cliffs(store, chain_id=chain.id, before_s=before_s)
    delete_old_lines(store, chain_id=chain.id, before_s=time.time() - settings.feed_kept_s)
    checkpoint = read_checkpoint(store, chain_id=chain.id, stream=FINAL)
    if checkpoint is not None:
        add_up_counts(store, chain_id=chain.id, final=checkpoint.number)
        delete_old_liquidity(store, chain=chain, final=checkpoint.number)
        below = checkpoint.number - chain.blocks_in(settings.launches_kept_s)
        delete_old_early_events(store, chain_id=chain.id, below=below)


def _finalize(chain: Chain, store: Store) -> None:
    """Finalize all rows below what a reorg may take away."""
    final = find_final(store, chain_id=chain.id, stream=FOLLOW, depth=chain.finality_blocks)
    if final is None:
        return
    # One block more than the window: the window's lowest block may still be unwound.
    while finalize_rows(store, chain_id=chain.id, final=final - 1):
        pass
