"""Loops that compare watched tokens at each new block, as soon as it is stored."""

import asyncio
from collections.abc import Iterable
from typing import Final

import structlog

from analysis.reads.node import Node
from assay.service.background.state_watch import StateWatch
from config.facts.chain import Chain
from config.settings import IndexerSettings
from core.evm.primitives import BlockRef
from sql.engine.store import Store
from sql.tokens.observations import pace_of

_FAILURE_PAUSE_S: Final = 10.0

_LOG = structlog.get_logger(__name__)


class NewestBlock:
    """The newest block that the follower has stored. Used on one event loop."""

    def __init__(self) -> None:
        self._block: BlockRef | None = None
        self._arrived = asyncio.Event()

    def put(self, block: BlockRef | None) -> None:
        """Set the newest block; skipped blocks are not compared later. None: there is none."""
        if block is not None and (self._block is None or block.hash != self._block.hash):
            self._block = block
            self._arrived.set()

    async def next(self) -> BlockRef:
        """Wait for a block other than the last one, and return the newest."""
        await self._arrived.wait()
        self._arrived.clear()
        assert self._block is not None  # noqa: S101 - it was set before the event
        return self._block


class StateComparisons:
    """Comparisons of all chains of a service."""

    def __init__(
        self, clients: Iterable[tuple[Chain, Node]], store: Store, settings: IndexerSettings
    ) -> None:
        """`clients`: chains with their nodes."""
        self.watches = {
            chain.id: StateWatch(
                chain,
                node,
                store,
                pace=pace_of(chain, settings),
                most_words=settings.watched_words,
            )
            for chain, node in clients
        }
        """Comparisons by chain id."""
        self._blocks = {chain_id: NewestBlock() for chain_id in self.watches}

    def put(self, chain_id: int, block: BlockRef | None) -> None:
        """Set the newest stored block of a chain. None: there is none."""
        self._blocks[chain_id].put(block)

    async def run(self, stop: asyncio.Event) -> None:
        """Compare until `stop` is set; running comparisons are then cancelled. A bug in one must
        not end the others."""
        comparing = [
            asyncio.create_task(_keep_comparing(watch, self._blocks[chain_id]))
            for chain_id, watch in self.watches.items()
        ]
        try:
            await stop.wait()
        finally:
            for task in comparing:
                task.cancel()
            await asyncio.gather(*comparing, return_exceptions=True)


async def _keep_comparing(watch: StateWatch, blocks: NewestBlock) -> None:
    while True:
        block = await blocks.next()
        try:
            await watch.look(block)
        except Exception as error:  # noqa: BLE001 - logged; the next block is compared
            _LOG.error("comparison of watched state failed", exc_info=error)
            await asyncio.sleep(_FAILURE_PAUSE_S)
