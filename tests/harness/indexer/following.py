"""A follower on a scripted chain."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from config.facts.chain import Chain
from config.settings import IndexerSettings
from indexer.head.follow import follow
from indexer.head.follower_status import FollowStatus
from sql.engine.store import Store
from tests.harness.node.chain import CHAIN, Odd, Pair, ScriptedNode, Sent, client_of

SETTINGS = IndexerSettings(poll_s=0.01, initial_log_range=8, max_log_range=16, late_logs_s=2)


class Board:
    """Published statuses of a follower."""

    def __init__(self) -> None:
        self.status = FollowStatus(chain_id=CHAIN.id)
        self._changed = asyncio.Event()

    def publish(self, status: FollowStatus) -> None:
        self.status = status
        self._changed.set()

    async def until(self, is_so: Callable[[FollowStatus], bool]) -> FollowStatus:
        async with asyncio.timeout(10):
            while not is_so(self.status):
                self._changed.clear()
                await self._changed.wait()
        return self.status

    async def until_level(self, node: ScriptedNode) -> FollowStatus:
        return await self.until(
            lambda status: (
                status.tip is not None
                and status.tip.hash == node.head.hash
                and status.last_error is None
            )
        )


@asynccontextmanager
async def following(
    store: Store, *nodes: ScriptedNode, chain: Chain = CHAIN
) -> AsyncIterator[Board]:
    board, stop = Board(), asyncio.Event()
    task = asyncio.create_task(
        follow(chain, client_of(*nodes), store, SETTINGS, stop=stop, publish=board.publish)
    )
    try:
        yield board
    finally:
        stop.set()
        async with asyncio.timeout(10):
            await task


def grown(count: int = 3) -> ScriptedNode:
    node = ScriptedNode()
    for number in range(count):
        node.extend([Pair(-1, 0), Sent(0, number), Odd(0)])
    return node


async def until(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_true():  # noqa: ASYNC110 - a store has no event for new rows
            await asyncio.sleep(0.01)
