"""A follower on a real node."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import msgspec

from config.settings import IndexerSettings, RpcSettings
from core.rpc.client import RpcClient
from indexer.head.follow import follow
from indexer.head.follower_status import FollowStatus
from sql.engine.store import Store
from tests.harness.indexer.following import Board
from tests.indexer.head.conftest import LiveChain

SETTINGS = IndexerSettings(poll_s=0.05, initial_log_range=8, max_log_range=32, late_logs_s=4)


@asynccontextmanager
async def following(live: LiveChain, store: Store, url: str) -> AsyncIterator[Board]:
    client = await RpcClient.connect([url], live.chain.id, RpcSettings())
    board, stop = Board(), asyncio.Event()
    task = asyncio.create_task(
        follow(live.chain, client, store, SETTINGS, stop=stop, publish=board.publish)
    )
    try:
        yield board
    finally:
        stop.set()
        await task
        await client.aclose()


async def until_level(board: Board, live: LiveChain) -> FollowStatus:
    head = live.node.rpc("eth_getBlockByNumber", "latest", False)
    block_hash = msgspec.convert(head, dict[str, object])["hash"]
    return await board.until(
        lambda status: status.tip is not None and status.tip.hash == block_hash
    )


@contextmanager
def opened(path: Path) -> Iterator[Store]:
    store = Store.open(path)
    try:
        yield store
    finally:
        store.close()
