"""The Model Context Protocol server: tools for AI agents with the same answers as the HTTP API.

Stateless: each request stands alone, so nothing is kept between two. Importing this module loads
the official SDK, which takes a second and some 40 MB; `routes/mcp.py` does so at the first call.
"""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Annotated, Any, Literal

import msgspec
import structlog
from litestar.types import HTTPScope, Receive, Scope, Send
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from api.auth.keys import Caller, caller_of
from api.auth.limits import KeyLimits
from api.auth.plan_usage import read_usage
from api.deps import ApiDeps
from api.error_answers import InvalidInputError, InvalidItem, LedgerDownError, RefusalError
from api.formats.rendering import Format
from api.served_chains import CHAIN_HELP, find_chain, list_chains
from api.serving.answers import Answers
from api.serving.batch_service import RefusalBody, tell
from api.serving.cached_answer import CachedAnswer
from core.errors import StoreError

INSTRUCTIONS = (
    "Token-safety findings for EVM chains. null, an absent key and `pending` mean unknown: never "
    "take them for safe. `pending` resolves, so ask again some seconds later."
)

_COUNTS = "Counts as one call against the limits of the key."
_FREE = "Does not count as a call."

_log = structlog.get_logger(__name__)


class _Nothing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No arguments."""


class _OneToken(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which token."""

    chain: Annotated[str, msgspec.Meta(description=f"{CHAIN_HELP}; list_chains has them")]
    address: Annotated[str, msgspec.Meta(description="Address of the token contract, 0x...")]


class _OneReport(_OneToken, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which token, and in which shape."""

    response_format: Literal["native", "compat"] = "native"


class _Called(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call."""

    caller: Caller
    arguments: Any
    """Of the type that the tool takes."""


class _Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool."""

    description: str
    takes: type[msgspec.Struct]
    run: Callable[[_Called], Awaitable[CallToolResult]]


class McpServer:
    """Answers the protocol's requests by the services of the API."""

    def __init__(self, deps: ApiDeps, answers: Answers, limits: KeyLimits, *, version: str):
        self._deps = deps
        self._answers = answers
        self._limits = limits
        self._tools = self._all_tools()
        server: Server[Any] = Server(
            "assay",
            version=version,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        self._manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        self._stack = AsyncExitStack()

    async def start(self) -> None:
        """Start the session manager; to be closed by the same task."""
        await self._stack.enter_async_context(self._manager.run())

    async def aclose(self) -> None:
        """Stop the session manager and running requests."""
        await self._stack.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request of an authenticated caller."""
        await self._manager.handle_request(scope, receive, send)  # type: ignore[arg-type]  # the two name the ASGI types differently

    def _all_tools(self) -> dict[str, _Tool]:
        return {
            "check_token": _Tool(
                description="Verdict on one token and the checks behind it. Only `safe` is a pass, "
                "and only for what was tested: a flag with status `unknown`, a verdict "
                f"`not_tested` and any null are no answer and never safe. {_COUNTS}",
                takes=_OneToken,
                run=lambda called: self._answer(called, "summary"),
            ),
            "token_report": _Tool(
                description="All findings on one token: code, simulated trades, pools, supply, "
                "holders. null means unknown, never safe or false; `pending` means ask again. "
                f"{_COUNTS}",
                takes=_OneReport,
                run=lambda called: self._answer(called, called.arguments.response_format),
            ),
            "token_evidence": _Tool(
                description="What the findings on one token rest on: functions, storage slots, "
                "program counters, simulated calls. A finding without evidence is unknown or "
                f"was not found, which is not proof of safety. {_COUNTS}",
                takes=_OneToken,
                run=lambda called: self._answer(called, "evidence"),
            ),
            "list_chains": _Tool(
                description="Supported chains, and which of them are served here. A token on "
                f"another chain cannot be judged, which does not make it safe. {_FREE}",
                takes=_Nothing,
                run=self._list_chains,
            ),
            "usage": _Tool(
                description="Plan, limits and calls left of the key that is used. null as a limit "
                f"means that there is none. {_FREE}",
                takes=_Nothing,
                run=self._usage,
            ),
        }

    async def _list_tools(
        self, _: ServerRequestContext[Any], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        hints = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=True)
        tools = [
            Tool(
                name=name,
                description=tool.description,
                input_schema=_schema_of(tool.takes),
                annotations=hints,
            )
            for name, tool in self._tools.items()
        ]
        return ListToolsResult(tools=tools)

    async def _call_tool(
        self, context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        """Run a tool. Every failure is returned as a tool error, so that the agent can read it and
        act on it."""
        scope: HTTPScope = context.request.scope  # type: ignore[union-attr]  # always over HTTP
        try:
            return await self._run(params, caller_of(scope))
        except RefusalError as error:
            return _refused(error)
        except StoreError as error:
            _log.error("ledger out of reach", tool=params.name, reason=str(error))
            return _refused(LedgerDownError())
        except Exception as error:  # noqa: BLE001 - the SDK would tell the caller what it says
            _log.error("tool failed", tool=params.name, exc_info=error)
            told = RefusalBody(
                status=500, error_code=None, error="Internal server error.", retry_after_s=None
            )
            return _result(msgspec.json.encode(told), is_error=True)

    async def _run(self, params: CallToolRequestParams, caller: Caller) -> CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            raise _invalid("name", f"No such tool; one of {', '.join(self._tools)}.")
        try:
            arguments = msgspec.convert(params.arguments or {}, tool.takes)
        except msgspec.ValidationError as error:
            raise _invalid("arguments", str(error)) from error
        return await tool.run(_Called(caller=caller, arguments=arguments))

    async def _answer(self, called: _Called, form: Format) -> CallToolResult:
        """Check in the order of the HTTP route: chain, limits, address."""
        asked: _OneToken = called.arguments
        chain = find_chain(self._deps, asked.chain, asked_in="arguments")
        await self._limits.admit(called.caller)
        answer: CachedAnswer = await self._answers.answer(
            chain=chain, address=asked.address, form=form
        )
        return _result(answer.body, is_error=answer.status != 200)  # noqa: PLR2004 - HTTP's

    async def _list_chains(self, _: _Called) -> CallToolResult:
        return _result(msgspec.json.encode(list_chains(self._deps)))

    async def _usage(self, called: _Called) -> CallToolResult:
        usage = await read_usage(self._limits, called.caller, now_s=self._deps.now_s())
        return _result(msgspec.json.encode(usage))


def _schema_of(takes: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schema of the object inline, as not all agent hosts resolve references."""
    _, components = msgspec.json.schema_components([takes])
    schema: dict[str, Any] = components[takes.__name__]
    return schema


def _invalid(name: str, message: str) -> InvalidInputError:
    return InvalidInputError(InvalidItem(loc=("body", name), msg=message, type="value_error"))


def _refused(error: RefusalError) -> CallToolResult:
    return _result(msgspec.json.encode(tell(error)), is_error=True)


def _result(body: bytes, *, is_error: bool = False) -> CallToolResult:
    """Return the body as text only: structured content would send it twice."""
    return CallToolResult(content=[TextContent(text=body.decode())], is_error=is_error)
