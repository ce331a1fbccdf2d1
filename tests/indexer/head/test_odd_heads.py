"""Following keeps up with the best head of all endpoints, whatever one of them announces."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from assay.demo.anvil import AnvilNode
from config.settings import IndexerSettings, RpcSettings
from core.rpc.client import RpcClient
from indexer.head.follow import follow
from sql.engine.store import Store
from tests.harness.indexer.following import Board
from tests.harness.node.chain import CHAIN
from tests.harness.node.odd_node import OPEN, Oddity, odd_node
from tests.harness.node.odd_subscription import (
    Announcer,
    announce_late,
    announce_nothing,
    announce_stale,
    announce_two_nodes,
    odd_subscription,
)
from tests.harness.store.empty_files import new_store

SOUND = Oddity(name="none", source="none")
AHEAD = 40
"""Blocks mined while following, a minute of the chain's time."""


@pytest.fixture
def node() -> Iterator[AnvilNode]:
    with AnvilNode() as opened:
        mine(opened, 50)
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "store")
    yield opened
    opened.close()


def mine(node: AnvilNode, count: int) -> None:
    for _ in range(count):
        node.mine()


@asynccontextmanager
async def following(store: Store, *urls: str) -> AsyncIterator[Board]:
    client = await RpcClient.connect(urls, CHAIN.id, RpcSettings(timeout_s=2))
    board, stop = Board(), asyncio.Event()
    settings = IndexerSettings(poll_s=0.1)
    chain = msgspec.structs.replace(CHAIN, start_block=None)
    task = asyncio.create_task(
        follow(chain, client, store, settings, stop=stop, publish=board.publish)
    )
    try:
        yield board
    finally:
        stop.set()
        async with asyncio.timeout(10):
            await task
        await client.aclose()


async def comes_level(board: Board, node: AnvilNode) -> None:
    number = node.head_number()
    await board.until(
        lambda status: (
            status.tip is not None and status.tip.number == number and status.lag_blocks == 0
        )
    )


@pytest.mark.parametrize(
    "announcer", [announce_stale, announce_late, announce_two_nodes, announce_nothing]
)
@pytest.mark.parametrize("is_alone", [True, False])
async def test_old_announcements_hold_nothing_up(
    node: AnvilNode, store: Store, announcer: Announcer, is_alone: bool
) -> None:
    async with odd_subscription(node.url, announcer) as url:
        urls = [url] if is_alone else [url, node.url]
        async with following(store, *urls) as board:
            await comes_level(board, node)
            for _ in range(2):
                mine(node, 5)
                await comes_level(board, node)


@pytest.mark.parametrize("stuck_first", [True, False])
async def test_an_endpoint_that_stands_still_holds_nothing_up(
    node: AnvilNode, store: Store, stuck_first: bool
) -> None:
    with odd_node(node.url, SOUND, head=node.head_number()) as (url, _):
        urls = [url, node.url] if stuck_first else [node.url, url]
        async with following(store, *urls) as board:
            await comes_level(board, node)
            mine(node, AHEAD)
            await comes_level(board, node)


async def test_an_endpoint_that_boasts_holds_nothing_up(node: AnvilNode, store: Store) -> None:
    """Its head is far above the best one, but it has no block of that number."""

    def boast(
        call: dict[str, object], answer: dict[str, object], seen: object
    ) -> dict[str, object]:
        params, block = call.get("params"), answer.get("result")
        if not isinstance(params, list) or params[:1] != ["latest"] or not isinstance(block, dict):
            return answer
        return answer | {"result": block | {"number": "0xffff0", "timestamp": "0xffffffff"}}

    oddity = Oddity(name="boasts", source="none", answer=boast)
    with odd_node(node.url, oddity, head=OPEN) as (url, _):
        async with following(store, url, node.url) as board:
            mine(node, 5)
            number = node.head_number()
            await board.until(lambda status: status.tip is not None and status.tip.number == number)


async def test_a_node_that_turns_to_another_chain_is_named(node: AnvilNode, store: Store) -> None:
    turned = threading.Event()

    def other_chain(
        call: dict[str, object], answer: dict[str, object], seen: object
    ) -> dict[str, object]:
        is_other = turned.is_set() and call["method"] == "eth_chainId"
        return answer | {"result": "0x5"} if is_other else answer

    oddity = Oddity(name="turns", source="none", answer=other_chain)
    with odd_node(node.url, oddity, head=OPEN) as (url, _):
        async with following(store, url) as board:
            mine(node, 1)
            number = node.head_number()
            await board.until(lambda status: status.tip is not None and status.tip.number == number)
            turned.set()
            await board.until(lambda status: status.is_on_wrong_chain)
