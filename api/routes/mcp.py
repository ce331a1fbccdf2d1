"""POST /mcp: the Model Context Protocol over streamable HTTP, with read-only tools."""

import asyncio
import gc
import importlib
from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from litestar import Request, post
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.types import (
    ASGIApp,
    HTTPReceiveMessage,
    Receive,
    Scope,
    Send,
    WebSocketReceiveMessage,
)

from api.auth.keys import require_key_or_token
from api.error_answers import CallerRefusalBody, DetailBody, NotJsonError, RefusalError, documented
from api.routes.agent_keys import require_json

MAX_BODY_BYTES = 65_536

_READS_JSON = {"application/json", "application/*", "*/*"}


class McpRunner(Protocol):
    """Interface of a startable protocol server."""

    async def start(self) -> None:
        """Start."""

    async def aclose(self) -> None:
        """Stop; in the task that started it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""


class McpAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """JSON-RPC 2.0, as the protocol has it."""

    jsonrpc: str
    id: str | int | None = None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


class LazyMcpServer:
    """Starts the server at the first call, to save its time and memory where it is not used."""

    def __init__(self, make: Callable[[Any], McpRunner]):
        self._make = make
        """Builds the server from the module `api.mcp_server`."""
        self._ready: asyncio.Future[McpRunner] | None = None
        self._ends = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    async def server(self) -> McpRunner:
        """Return the one server, started."""
        if self._ready is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._keeper = asyncio.create_task(self._keep(self._ready))
        return await asyncio.shield(self._ready)

    async def aclose(self) -> None:
        """Stop the server, if it was started."""
        self._ends.set()
        if self._keeper is not None:
            await self._keeper

    async def _keep(self, ready: asyncio.Future[McpRunner]) -> None:
        """Start and stop in one task, as the server's task group demands."""
        try:
            module = await asyncio.to_thread(importlib.import_module, "api.mcp_server")
            gc.freeze()  # loaded objects stay alive; scanning them would pause answers
            server = self._make(module)
            await server.start()
        except Exception as error:  # noqa: BLE001 - goes to those who wait for the server
            ready.set_exception(error)
            return
        ready.set_result(server)
        try:
            await self._ends.wait()
        finally:
            await server.aclose()


class NotAcceptableError(RefusalError):
    """The caller does not accept JSON."""

    def __init__(self) -> None:
        super().__init__(status=406, body=DetailBody(detail="Accept must name application/json."))


async def require_json_both_ways(
    connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
) -> None:
    """Guard: check the headers that the SDK would reject in plain text, or silently."""
    sent, accepted = (
        {
            part.partition(";")[0].strip().lower()
            for part in connection.headers.get(name, "").split(",")
        }
        for name in ("Content-Type", "Accept")
    )
    if sent != {"application/json"}:
        raise NotJsonError
    if accepted.isdisjoint(_READS_JSON):
        raise NotAcceptableError


@post(
    "/mcp",
    status_code=200,
    guards=[require_key_or_token, require_json_both_ways, require_json],
    request_max_body_size=MAX_BODY_BYTES,
    security=[{"ApiKey": []}, {"Token": []}],
    summary="Model Context Protocol for AI agents",
    tags=["agents"],
    responses={
        200: documented(McpAnswer, "The answer; a refused tool call has isError in its result"),
        202: documented(None, "A notification was taken"),
        400: documented(McpAnswer | DetailBody, "Not a request of the protocol"),
        401: documented(CallerRefusalBody | DetailBody, "No key, key past its end, unknown key"),
        404: documented(McpAnswer, "No such method"),
        406: documented(DetailBody, "Accept must name application/json"),
        413: documented(DetailBody, "The body is too large"),
        503: documented(DetailBody, "The ledger of keys is out of reach"),
    },
)
async def post_mcp(request: Request[Any, Any, Any]) -> ASGIApp:
    """Streamable HTTP without sessions: one JSON answer for each request.

    Tools: check_token, token_report, token_evidence, list_chains, usage. A tool that judges a token
    counts as one call, as the route by HTTP does; the others are free. What is refused (limits
    too) is an error of the tool, its text the reason as JSON.
    """
    door: LazyMcpServer = request.app.state.mcp
    server, body = await door.server(), await request.body()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await server(scope, _again(body, receive), send)

    return answer


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a receive function that replays a body already read, then passes on later messages."""
    read: list[HTTPReceiveMessage] = [
        {"type": "http.request", "body": body, "more_body": False},
    ]

    async def replay() -> HTTPReceiveMessage | WebSocketReceiveMessage:
        return read.pop() if read else await receive()

    return replay
