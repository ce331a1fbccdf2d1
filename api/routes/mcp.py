"""POST /mcp: the Model Context Protocol over streamable HTTP."""

import asyncio
import gc
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
from litestar import Request, post
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.openapi.spec import OpenAPIMediaType, OpenAPIType, Operation, RequestBody, Schema
from litestar.types import (
    ASGIApp,
    HTTPReceiveMessage,
    Receive,
    Scope,
    Send,
    WebSocketReceiveMessage,
)

from api.auth.keys import require_key_or_token
from api.auth.origins import ForeignOriginError, require_known_origin
from api.error_answers import DetailBody, NotJsonError, RefusalError
from api.openapi.responses import LEDGER_DOWN, NO_KEY, TOO_LARGE, documented
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
    """A JSON-RPC 2.0 response."""

    jsonrpc: str
    """Version of JSON-RPC."""
    id: str | int | None = None
    """The request's id. None: it could not be read."""
    result: dict[str, Any] | None = None
    """Result of the method. Absent where `error` is present."""
    error: dict[str, Any] | None = None
    """Code, message and data of the failure. Absent where `result` is present."""


class LazyMcpServer:
    """Starts the server at the first call, which saves its time and memory where it is not used."""

    def __init__(self, make: Callable[[Any], McpRunner]):
        self._make = make
        """Builds the server from the module `api.mcp.mcp_server`."""
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
        """Start and stop in one task, as the server's task group requires."""
        try:
            module = await asyncio.to_thread(importlib.import_module, "api.mcp.mcp_server")
            gc.freeze()  # loaded objects stay alive; scanning them would pause answers
            server = self._make(module)
            await server.start()
        except Exception as error:  # noqa: BLE001 - raised in the tasks that wait for the server
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


def _error(code: int, message: str) -> McpAnswer:
    return McpAnswer(jsonrpc="2.0", error={"code": code, "message": message})


_REQUEST = Schema(
    type=OpenAPIType.OBJECT,
    required=["jsonrpc", "method"],
    properties={
        "jsonrpc": Schema(
            type=OpenAPIType.STRING, description="Version of JSON-RPC.", examples=["2.0"]
        ),
        "id": Schema(
            type=[OpenAPIType.STRING, OpenAPIType.INTEGER],
            description="Comes back with the answer. Absent: a notification, which has none.",
            examples=[1],
        ),
        "method": Schema(
            type=OpenAPIType.STRING,
            description="initialize, ping, tools/list, tools/call, resources/list, resources/read "
            "or subscriptions/listen.",
            examples=["tools/call"],
        ),
        "params": Schema(
            type=OpenAPIType.OBJECT,
            description="Of tools/call: `name` of the tool, and its `arguments`.",
            examples=[{"name": "list_chains", "arguments": {}}],
        ),
    },
)


@dataclass
class _McpOperation(Operation):
    """The operation with its body, which the SDK reads instead of Litestar."""

    def __post_init__(self) -> None:
        self.request_body = RequestBody(
            description="A request of JSON-RPC 2.0, one at a time.",
            content={"application/json": OpenAPIMediaType(schema=_REQUEST)},
            required=True,
        )


@post(
    "/mcp",
    operation_class=_McpOperation,
    status_code=200,
    guards=[require_known_origin, require_key_or_token, require_json_both_ways, require_json],
    request_max_body_size=MAX_BODY_BYTES,
    security=[{"ApiKey": []}, {"Token": []}],
    operation_id="postMcp",
    summary="Model Context Protocol for AI agents",
    tags=["agents"],
    responses={
        200: documented(McpAnswer, "The answer; a refused tool call has isError in its result"),
        202: documented(None, "A notification was taken"),
        400: documented(
            McpAnswer | DetailBody,
            "Not a request of the protocol",
            not_a_request=_error(-32600, "Invalid Request"),
            not_json=NotJsonError(),
        ),
        401: NO_KEY,
        403: documented(
            DetailBody, "A script of a site that may not call", foreign_origin=ForeignOriginError()
        ),
        404: documented(
            McpAnswer,
            "No such method",
            no_such_method=_error(-32601, "Method not found"),
        ),
        406: documented(
            DetailBody, "Accept must name application/json", not_acceptable=NotAcceptableError()
        ),
        413: TOO_LARGE,
        503: LEDGER_DOWN,
    },
)
async def post_mcp(request: Request[Any, Any, Any]) -> ASGIApp:
    """Streamable HTTP without sessions: one JSON answer for each request, a stream of events for
    subscriptions/listen.

    Tools: check_token, token_report, token_evidence, list_chains, usage, token_kin, quote_exit,
    liquidity_holders, hook_dossier, sale_census, trade_limits, token_opening, evidence_pack,
    check_trade, watch_tokens, list_watches, watch_messages, remove_watch. A tool that analyses a
    token, a trade, a hook, sales, limits, an opening or liquidity, looks for kin, or makes a pack
    or a watch, counts as one call, as its HTTP route does; the others are free. Each watch is a
    resource, whose updates can be subscribed to. Results come as structured content and as text, an
    evidence pack as an additional embedded resource. A refusal (limits too) is an error of the
    tool, with its reason as JSON; a tool that does not exist is an error of the protocol.
    """
    mcp_server: LazyMcpServer = request.app.state.mcp_server
    server, body = await mcp_server.server(), await request.body()

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
