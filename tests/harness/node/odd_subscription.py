"""WebSocket endpoint before a real node whose subscription announces other blocks than the newest.

Every request is answered rightly.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
from aiohttp import ClientSession, WSMsgType, web

Ask = Callable[..., Awaitable[Any]]
Announcer = Callable[[Ask], AsyncIterator[Any]]
"""Yields the headers to announce."""

_EVERY_S = 0.05


async def _block(ask: Ask, number: str) -> Any:
    return await ask("eth_getBlockByNumber", number, False)


async def announce_stale(ask: Ask) -> AsyncIterator[Any]:
    """The same old block again and again (midnightntwrk/midnight-indexer#569)."""
    first = await _block(ask, "latest")
    while True:
        yield first


async def announce_late(ask: Ask) -> AsyncIterator[Any]:
    """Blocks far behind the head, which move on (cowprotocol/services#566)."""
    while True:
        number = int(await ask("eth_blockNumber"), 16)
        yield await _block(ask, hex(max(0, number - 30)))


async def announce_two_nodes(ask: Ask) -> AsyncIterator[Any]:
    """The head, and between old blocks of another node (ethereum/go-ethereum#27353)."""
    while True:
        yield await _block(ask, "latest")
        yield await _block(ask, "0x1")


async def announce_nothing(_: Ask) -> AsyncIterator[Any]:
    """Silence."""
    await asyncio.sleep(3_600)
    yield None


@asynccontextmanager
async def odd_subscription(url: str, announcer: Announcer) -> AsyncIterator[str]:
    """Serve the node; yield the address."""
    async with ClientSession() as session:

        async def send(body: Any) -> Any:
            async with session.post(url, json=body) as response:
                return msgspec.json.decode(await response.read())

        async def ask(method: str, *params: object) -> Any:
            return (await send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))[
                "result"
            ]

        async def announce(socket: web.WebSocketResponse) -> None:
            with suppress(ConnectionError):
                async for header in announcer(ask):
                    params = {"subscription": "0xfeed", "result": header}
                    event = {"jsonrpc": "2.0", "method": "eth_subscription", "params": params}
                    await socket.send_str(msgspec.json.encode(event).decode())
                    await asyncio.sleep(_EVERY_S)

        async def handle(request: web.Request) -> web.StreamResponse:
            socket = web.WebSocketResponse()
            await socket.prepare(request)
            tasks = []
            async for message in socket:
                if message.type != WSMsgType.TEXT:
                    break
                body = msgspec.json.decode(message.data)
                if isinstance(body, dict) and body["method"] == "eth_subscribe":
                    answered = {"jsonrpc": "2.0", "id": body["id"], "result": "0xfeed"}
                    tasks.append(asyncio.create_task(announce(socket)))
                else:
                    answered = await send(body)
                await socket.send_str(msgspec.json.encode(answered).decode())
            for task in tasks:
                task.cancel()
            return socket

        app = web.Application()
        app.router.add_get("/", handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield f"ws://127.0.0.1:{runner.addresses[0][1]}/"
        finally:
            await runner.cleanup()
