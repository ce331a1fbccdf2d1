"""The role `follow`: follows chains into the store, maintains it, and compares watched tokens."""

import asyncio
from contextlib import suppress
from functools import partial
from typing import Final

import structlog

from assay.service.background.state_watch_loop import StateComparisons
from assay.service.metrics.follower_metrics import FollowerCollector
from assay.service.metrics.watch_metrics import WatchCollector
from assay.service.shared_parts import SharedParts
from config.facts.chain import Chain
from config.settings import IndexerSettings
from core.rpc.client import RpcClient
from indexer.head.follow import follow
from indexer.head.follower_status import FollowStatus, Publish
from indexer.history.compaction_job import keep_compacting
from indexer.history.maintenance import keep_up
from sql.engine.store import Store

LAKE_LEASE: Final = "lake"


def follow_lease(chain_id: int) -> str:
    """Return the name of the lease for following a chain."""
    return f"follow:{chain_id}"


def is_followed_here(parts: SharedParts, chain_id: int) -> bool:
    """True if this process follows the chain now."""
    return chain_id in parts.comparisons


def begin_following(group: asyncio.TaskGroup, parts: SharedParts) -> None:
    """Start the tasks of the role, until the stop."""
    parts.metrics.read_from(
        FollowerCollector(parts.chains, parts.statuses),
        WatchCollector(parts.chains, parts.statuses, parts.comparisons),
    )
    for chain, client in parts.clients:
        group.create_task(
            parts.leadership.lead(
                follow_lease(chain.id),
                partial(_follow, parts, chain, client),
                stop=parts.stop,
            )
        )
    compacting = parts.leadership.lead(LAKE_LEASE, partial(_compact, parts), stop=parts.stop)
    group.create_task(compacting)


async def _compact(parts: SharedParts, store: Store, stop: asyncio.Event) -> None:
    await keep_compacting(
        parts.followed,
        store,
        parts.settings.indexer,
        stop=stop,
        observe=parts.metrics.compaction.observe,
    )


async def _follow(
    parts: SharedParts, chain: Chain, client: RpcClient, store: Store, stop: asyncio.Event
) -> None:
    settings = parts.settings.indexer
    comparisons = StateComparisons([(chain, client)], store, settings)
    parts.comparisons.update(comparisons.watches)

    def publish(status: FollowStatus) -> None:
        parts.statuses[status.chain_id] = status
        comparisons.put(status.chain_id, status.tip)

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(keep_following_chain(chain, client, store, settings, stop, publish))
            group.create_task(keep_up_chain(chain, client, store, settings, stop))
            group.create_task(comparisons.run(stop))
    finally:
        parts.comparisons.pop(chain.id, None)


_FAILURE_PAUSE_S = 10.0

_LOG = structlog.get_logger("assay")


async def keep_following_chain(
    chain: Chain,
    client: RpcClient,
    store: Store,
    settings: IndexerSettings,
    stop: asyncio.Event,
    publish: Publish,
) -> None:
    """Follow a chain until the stop. A bug that one chain triggers must not end the others."""
    while not stop.is_set():
        try:
            await follow(chain, client, store, settings, stop=stop, publish=publish)
        except Exception as error:  # noqa: BLE001 - logged; the chain is restarted
            _LOG.error("following failed", chain=chain.slug, exc_info=error)
            publish(FollowStatus(chain_id=chain.id, last_error=f"following failed: {error!r}"))
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _FAILURE_PAUSE_S)


async def keep_up_chain(
    chain: Chain, client: RpcClient, store: Store, settings: IndexerSettings, stop: asyncio.Event
) -> None:
    """Run the maintenance tasks of a chain until the stop. A bug in them must end nothing else."""
    while not stop.is_set():
        try:
            await keep_up(chain, client, store, settings, stop=stop)
        except Exception as error:  # noqa: BLE001 - logged; upkeep is restarted
            _LOG.error("upkeep failed", chain=chain.slug, exc_info=error)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _FAILURE_PAUSE_S)
