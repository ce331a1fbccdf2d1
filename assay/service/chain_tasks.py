"""Tasks of one chain that go on until the stop, whatever breaks off."""

import asyncio
from contextlib import suppress

import structlog

from config.chains import Chain
from config.settings_model import IndexerSettings
from core.rpc.client import RpcClient
from indexer.follow import follow
from indexer.follower_status import FollowStatus, Publish
from indexer.maintenance import keep_up
from sql.engine.store import Store

_BROKEN_OFF_PAUSE_S = 10.0

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
        except Exception as error:  # noqa: BLE001 - logged whole; the chain is begun again
            _LOG.error("following broke off", chain=chain.slug, exc_info=error)
            publish(FollowStatus(chain_id=chain.id, last_error=f"following broke off: {error!r}"))
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _BROKEN_OFF_PAUSE_S)


async def keep_up_chain(
    chain: Chain, client: RpcClient, store: Store, settings: IndexerSettings, stop: asyncio.Event
) -> None:
    """Run the maintenance tasks of a chain until the stop. A bug in them must end nothing else."""
    while not stop.is_set():
        try:
            await keep_up(chain, client, store, settings, stop=stop)
        except Exception as error:  # noqa: BLE001 - logged whole; it is begun again
            _LOG.error("upkeep broke off", chain=chain.slug, exc_info=error)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _BROKEN_OFF_PAUSE_S)
