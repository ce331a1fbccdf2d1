"""Node on a real port with scripted answers, good or bad."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import WSMsgType, web

from config.settings import RpcSettings

Reply = Callable[["Node", list[dict[str, Any]]], Awaitable[web.StreamResponse]]

SETTINGS = RpcSettings(timeout_s=0.3, attempts=4, max_batch=10, max_response_bytes=100_000)


class Node:
    """Counts its requests; the next replies misbehave, all others are good."""

    def __init__(self, *, chain_id: int = 1) -> None:
        self.chain_id = chain_id
        self.misbehaviour: list[Reply] = []
        self.always: Reply | None = None
        self.messages: list[list[dict[str, Any]]] = []
        self.url = ""
        self.sockets: list[web.WebSocketResponse] = []
        self.silent = False
        self.subscribed = asyncio.Event()
        self.ending = asyncio.Event()

    @property
    def calls(self) -> list[str]:
        """Return the requested methods, without chain id checks."""
        methods = [call["method"] for message in self.messages for call in message]
        return [method for method in methods if method != "eth_chainId"]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await self._handle_socket(request)
        body = msgspec.json.decode(await request.read())
        calls = body if isinstance(body, list) else [body]
        self.messages.append(calls)
        if calls[0]["method"] != "eth_chainId":
            if self.misbehaviour:
                return await self.misbehaviour.pop(0)(self, calls)
            if self.always is not None:
                return await self.always(self, calls)
        return good(self, calls)

    async def _handle_socket(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.sockets.append(socket)
        async for message in socket:
            if message.type != WSMsgType.TEXT:
                break
            body = msgspec.json.decode(message.data)
            calls = body if isinstance(body, list) else [body]
            self.messages.append(calls)
            if self.silent:
                continue
            answers = [answer(self, call) for call in calls]
            await socket.send_str(encode(answers if isinstance(body, list) else answers[0]))
            if calls[0]["method"] == "eth_subscribe":
                self.subscribed.set()
        return socket


def answer(node: Node, call: dict[str, Any]) -> dict[str, Any]:
    """A good answer: the first parameter sent back."""
    method, params = call["method"], call["params"]
    result = {"eth_chainId": hex(node.chain_id), "eth_subscribe": "0xfeed"}.get(
        method, params[0] if params else None
    )
    return {"jsonrpc": "2.0", "id": call["id"], "result": result}


def encode(value: object) -> str:
    return msgspec.json.encode(value).decode()


def encode_all(answers: Sequence[object]) -> str:
    """A list for several answers, as for several requests; one as it is."""
    return encode(answers if len(answers) > 1 else answers[0])


def good(node: Node, calls: Sequence[dict[str, Any]]) -> web.Response:
    return web.Response(text=encode_all([answer(node, call) for call in calls]))


async def hang(node: Node, _: list[dict[str, Any]]) -> web.StreamResponse:
    """No answer until the node ends."""
    await node.ending.wait()
    return web.Response()


def status(number: int, body: str = "sorry", **headers: str) -> Reply:
    async def reply(_: Node, __: list[dict[str, Any]]) -> web.StreamResponse:
        renamed = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=number, text=body, headers=renamed)

    return reply


def text(body: str) -> Reply:
    return status(200, body)


def changed(change: Callable[[list[dict[str, Any]]], object]) -> Reply:
    """Good answers, with something done to them."""

    async def reply(node: Node, calls: list[dict[str, Any]]) -> web.StreamResponse:
        return web.Response(text=encode(change([answer(node, call) for call in calls])))

    return reply


def faulty(code: int, message: str, *, at: int | None = None) -> Reply:
    """Every call, or only one of the message, is answered with this error."""
    error = {"code": code, "message": message}

    async def reply(node: Node, calls: list[dict[str, Any]]) -> web.StreamResponse:
        answers = [
            answer(node, call)
            if at is not None and at != index
            else {"jsonrpc": "2.0", "id": call["id"], "error": error}
            for index, call in enumerate(calls)
        ]
        return web.Response(text=encode_all(answers))

    return reply


def refuses_batches(most: int, *, number: int = 200) -> Reply:
    """Messages of more calls than this get one error object for all."""

    async def reply(node: Node, calls: list[dict[str, Any]]) -> web.StreamResponse:
        if len(calls) <= most:
            return good(node, calls)
        if number != 200:
            return web.Response(status=number, text="no batches")
        refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "too many"}}
        return web.Response(text=encode(refusal))

    return reply


async def huge(_: Node, __: list[dict[str, Any]]) -> web.StreamResponse:
    return web.Response(text='{"result":"' + "0" * (SETTINGS.max_response_bytes + 1) + '"}')


async def cut_short(node: Node, calls: list[dict[str, Any]]) -> web.StreamResponse:
    whole = encode([answer(node, call) for call in calls])
    return web.Response(text=whole[: len(whole) // 2])


async def drop(_: Node, __: list[dict[str, Any]]) -> web.StreamResponse:
    """Closes the connection without an answer."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)
    return web.Response()


@asynccontextmanager
async def running(*nodes: Node) -> AsyncIterator[None]:
    """Serve the nodes, each on a free port."""
    runners: list[web.AppRunner] = []
    try:
        for node in nodes:
            app = web.Application()
            app.router.add_route("*", "/{path:.*}", node.handle)
            runner = web.AppRunner(app, shutdown_timeout=0.1)
            runners.append(runner)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            port = runner.addresses[0][1]
            node.url = f"http://127.0.0.1:{port}/v3/SECRET-KEY"
        yield
    finally:
        for node in nodes:
            node.ending.set()
            for socket in node.sockets:
                await socket.close()
        for runner in runners:
            await runner.cleanup()
