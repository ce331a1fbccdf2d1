"""One WebSocket carries many questions and the announcements between their answers."""

import asyncio
from typing import Any

import pytest

from core.errors import UpstreamError
from core.rpc.failures import AnswerTimeoutError, AnswerTooLargeError
from core.rpc.websocket import WebSocketTransport
from indexer.head.heads import HeadFeed
from tests.harness.node.chain import make_block
from tests.harness.node.serve import SETTINGS, Node, encode, running
from tests.harness.rpc.clients import client_of, echo, texts


def head(number: int) -> dict[str, Any]:
    """Write a node's announcement."""
    block = make_block(None, (), str(number))
    return {
        "number": hex(number),
        "hash": block.hash,
        "parentHash": block.parent_hash,
        "timestamp": "0x1",
        "logsBloom": "0x" + "00" * 256,
        "miner": "0x" + "00" * 20,
    }


def announcement(result: object) -> str:
    params = {"subscription": "0xfeed", "result": result}
    return encode({"jsonrpc": "2.0", "method": "eth_subscription", "params": params})


async def test_questions_share_a_connection() -> None:
    node = Node()
    async with running(node), client_of(node, scheme="ws") as client:
        words = [str(number) for number in range(35)]
        batches = await asyncio.gather(*(client.batch(echo(word, "x")) for word in words))
        assert [texts(batch) for batch in batches] == [[word, "x"] for word in words]
        assert len(node.sockets) == 1


async def test_heads_are_announced_between_answers() -> None:
    node = Node()
    async with running(node), client_of(node, scheme="ws") as client:
        heads = client.announced_heads()
        first = asyncio.ensure_future(anext(heads))
        await node.subscribed.wait()
        await node.sockets[0].send_str(announcement(head(5)))
        await node.sockets[0].send_str(announcement(head(6)))
        assert texts(await client.batch(echo("a"))) == ["a"]
        assert [(await first).number, (await anext(heads)).number] == [5, 6]
        await node.sockets[0].close()
        with pytest.raises(UpstreamError, match="connection closed"):
            await anext(heads)


async def test_an_announced_head_is_not_asked_for_and_silence_is_not_waited_for() -> None:
    node = Node()  # knows no blocks: a request for the head gets an error
    never = asyncio.Event()
    async with running(node), client_of(node, scheme="ws") as client:
        async with HeadFeed(client, poll_s=60) as feed:
            waiting = asyncio.ensure_future(feed.next(stop=never, at_once=False))
            await node.subscribed.wait()
            await node.sockets[0].send_str(announcement(head(5)))
            announced = await waiting
            assert announced is not None
            assert announced.number == 5
        async with HeadFeed(client, poll_s=0.01) as feed:
            with pytest.raises(UpstreamError, match="latest block"):
                await feed.next(stop=never, at_once=False)


async def test_it_opens_again_after_it_broke() -> None:
    node = Node()
    async with running(node), client_of(node, scheme="ws") as client:
        assert texts(await client.batch(echo("a"))) == ["a"]
        await node.sockets[0].close()
        assert texts(await client.batch(echo("b"))) == ["b"]
        assert len(node.sockets) == 2


async def test_silence_ends() -> None:
    node = Node()
    async with running(node), client_of(node, scheme="ws") as client:
        node.silent = True
        with pytest.raises(AnswerTimeoutError):
            await client.batch(echo("a"))


async def test_a_huge_message_is_not_read() -> None:
    node = Node()
    async with running(node), client_of(node, scheme="ws") as client:
        with pytest.raises(AnswerTooLargeError):
            await client.batch(echo("x" * (SETTINGS.max_response_bytes + 1)))
        assert texts(await client.batch(echo("b"))) == ["b"]


@pytest.mark.parametrize("nonsense", ["<html>", "[1]", '{"jsonrpc": "2.0", "id": '])
async def test_nonsense_breaks_the_connection_not_the_client(nonsense: str) -> None:
    node = Node()
    async with running(node), client_of(node, scheme="ws") as client:
        await client.batch(echo("a"))
        await node.sockets[0].send_str(nonsense)
        assert texts(await client.batch(echo("b"))) == ["b"]


async def test_what_nobody_asked_for_is_ignored() -> None:
    node = Node()
    async with running(node), client_of(node, scheme="ws") as client:
        await client.batch(echo("a"))
        await node.sockets[0].send_str(encode({"jsonrpc": "2.0", "id": 987654, "result": "?"}))
        await node.sockets[0].send_str(announcement({"removed": True}))
        assert texts(await client.batch(echo("b"))) == ["b"]
        assert len(node.sockets) == 1


async def test_http_alone_cannot_subscribe() -> None:
    node = Node()
    async with running(node), client_of(node) as client:
        assert not client.can_subscribe
        with pytest.raises(UpstreamError, match="no WebSocket endpoint"):
            await anext(client.announced_heads())


async def test_announcements_of_unknown_subscriptions_and_huge_ones_are_dropped() -> None:
    node = Node()
    async with running(node), client_of(node, scheme="ws") as client:
        heads = client.announced_heads()
        first = asyncio.ensure_future(anext(heads))
        await node.subscribed.wait()
        (endpoint,) = client._endpoints
        transport = endpoint.transport
        assert isinstance(transport, WebSocketTransport)
        # Its subscription is known before the flood, under which it might not be in time.
        assert texts(await client.batch(echo("before"))) == ["before"]
        unknown = announcement("x" * 1_000).replace("0xfeed", "0xother")
        for _ in range(100):
            await node.sockets[0].send_str(unknown)
        for number in range(2_000):
            await node.sockets[0].send_str(announcement(head(number)))
        assert texts(await client.batch(echo("a"))) == ["a"]
        assert [*transport._feeds] == ["0xfeed"]
        assert transport._feeds["0xfeed"]._bytes <= 1 << 20
        assert (await first).number > 0
        await node.sockets[0].close()
        with pytest.raises(UpstreamError, match="connection closed"):
            while True:
                await anext(heads)
        assert not transport._feeds
