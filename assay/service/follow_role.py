"""The role `follow`: chains into the store, its upkeep, and what is compared at each new block."""

import asyncio
from functools import partial
from typing import Final

from assay.service.background.state_watch_loop import StateComparisons
from assay.service.chain_tasks import keep_following_chain, keep_up_chain
from assay.service.metrics.follower_metrics import FollowerCollector
from assay.service.metrics.watch_metrics import WatchCollector
from assay.service.shared_parts import SharedParts
from config.chains import Chain
from core.rpc.client import RpcClient
from indexer.compaction_job import keep_compacting
from indexer.follower_status import FollowStatus
from sql.engine.store import Store

LAKE_LEASE: Final = "lake"


def follow_lease(chain_id: int) -> str:
    """Return the name of the lease of whoever follows a chain."""
    return f"follow:{chain_id}"


def is_followed_here(parts: SharedParts, chain_id: int) -> bool:
    """Return whether this process follows the chain now: it has its comparisons."""
    return chain_id in parts.comparisons


def begin_following(group: asyncio.TaskGroup, parts: SharedParts) -> None:
    """Begin with the role, until the stop."""
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
