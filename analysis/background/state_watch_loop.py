"""Loop that compares watched tokens at each new block of one chain, as soon as it is stored."""

import asyncio
from typing import Final

import structlog

from analysis.background.state_watch import StateWatch
from core.primitives import BlockRef

_BROKEN_OFF_PAUSE_S: Final = 10.0

_LOG = structlog.get_logger(__name__)


class NewestBlock:
    """The newest block that the follower has stored. Used on one event loop."""

    def __init__(self) -> None:
        self._block: BlockRef | None = None
        self._arrived = asyncio.Event()

    def put(self, block: BlockRef | None) -> None:
        """Note the newest block; one that was left out is not made up for. None: there is none."""
        if block is not None and (self._block is None or block.hash != self._block.hash):
            self._block = block
            self._arrived.set()

    async def next(self) -> BlockRef:
        """Return the newest block once there is another than the last time."""
        await self._arrived.wait()
        self._arrived.clear()
        assert self._block is not None  # noqa: S101 - it was set before the event
        return self._block


async def keep_comparing(watch: StateWatch, blocks: NewestBlock, stop: asyncio.Event) -> None:
    """Compare until `stop` is set; a look under way is then cancelled. A bug in one must end
    nothing else."""
    looking = asyncio.create_task(_look_for_ever(watch, blocks))
    try:
        await stop.wait()
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


async def _look_for_ever(watch: StateWatch, blocks: NewestBlock) -> None:
    while True:
        block = await blocks.next()
        try:
            await watch.look(block)
        except Exception as error:  # noqa: BLE001 - logged whole; the next block is looked at
            _LOG.error("comparison of watched state broke off", exc_info=error)
            await asyncio.sleep(_BROKEN_OFF_PAUSE_S)
