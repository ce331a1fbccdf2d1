"""The Model Context Protocol server: tools for AI agents with the same answers as the HTTP API.

Stateless: each request stands alone, so nothing is kept between two. Importing this module loads
the official SDK, which takes a second and some 40 MB; `routes/mcp.py` does so at the first call.
"""

import base64
from contextlib import AsyncExitStack
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
import structlog
from litestar.types import HTTPScope, Receive, Scope, Send
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    BlobResourceContents,
    CallToolRequestParams,
    CallToolResult,
    EmbeddedResource,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
    ToolAnnotations,
)

from analysis.replay.evidence_pack import PackFile
from api.auth.keys import Caller, Keyring, caller_of
from api.auth.limits import KeyLimits
from api.auth.plan_usage import KeyUsage, read_usage
from api.deps import ApiDeps
from api.error_answers import InvalidInputError, InvalidItem, LedgerDownError, RefusalError
from api.formats.native.compat import CompatFeatures
from api.formats.native.shapes import Envelope, NativeFeatures
from api.formats.rendering import EvidenceBody, Format
from api.formats.resources.pack_format import pack_answer
from api.formats.shape_building import Shape
from api.formats.summary.summary import Summary
from api.mcp.evidence_excerpt import EvidenceExcerpt, excerpt, excerpt_of
from api.mcp.mcp_tool import COUNTS, FREE, CalledTool, McpTool, NoArguments, tool_error, tool_result
from api.mcp.mcp_watches import McpWatches
from api.resources.token_resource import OneToken, TokenCall, TokenResource, run_resource
from api.resources.token_resources import TOKEN_RESOURCES
from api.served_chains import ServedChain, find_chain, list_chains
from api.serving.answers import Answers
from api.serving.batch_service import RefusalBody, refusal_body
from api.serving.cached_answer import CachedAnswer
from api.watches.event_feed import EventFeed
from api.watches.watch_book import WatchBook
from core.errors import StoreError


class McpResources:
    """One tool for each token sub-resource."""

    def __init__(self, deps: ApiDeps, answers: Answers, limits: KeyLimits) -> None:
        self._deps = deps
        self._answers = answers
        self._limits = limits

    def tools(self) -> dict[str, McpTool]:
        """Return the tools by name, those that cost no simulation first."""
        cheapest_first = sorted(TOKEN_RESOURCES, key=lambda resource: resource.is_simulated)
        return {
            resource.tool.name: McpTool(
                description=f"{resource.tool.description} {COUNTS}",
                takes=resource.tool.takes,
                gives=(resource.answer,),
                run=partial(self._run, resource),
            )
            for resource in cheapest_first
        }

    async def _run(self, resource: TokenResource, called: CalledTool) -> CallToolResult:
        """Check in the order of the HTTP route: chain, limits, address."""
        given = called.arguments
        chain = find_chain(self._deps, str(given.chain), place="arguments")
        await self._limits.admit(called.caller)
        call = TokenCall(
            deps=self._deps,
            answers=self._answers,
            chain=chain,
            address=given.address,
            place="arguments",
        )
        arguments = (
            {"data": given}
            if resource.takes_body
            else {each.name: getattr(given, each.name) for each in resource.parameters}
        )
        found = await run_resource(resource, call, arguments)
        if isinstance(found, CachedAnswer):
            return tool_error(found.body)
        if isinstance(found, PackFile):
            answer = pack_answer(found, chain=chain, address=given.address)
            result = tool_result(msgspec.json.encode(answer))
            result.content.append(_embedded(chain, given.address, found))
            return result
        return tool_result(msgspec.json.encode(found))


def _embedded(chain: str, address: str, file: PackFile) -> EmbeddedResource:
    """Return the file as a resource, which a host can keep from the model's context."""
    uri = f"assay://packs/{chain}/{address.lower()}/{file.block.number}"
    blob = base64.b64encode(file.body).decode()
    contents = BlobResourceContents(uri=uri, mime_type="application/zstd", blob=blob)
    return EmbeddedResource(resource=contents)


INSTRUCTIONS = (
    "Token-safety findings for EVM chains. null, an absent key and `pending` mean unknown: never "
    "take them for safe. `pending` resolves, so repeat the call some seconds later."
)

MOST_POOLS = 50
"""Pools of a report; more would make it longer than a model can read."""

_OK = 200

_log = structlog.get_logger(__name__)


class _OneReport(OneToken, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One token, and the format of its report."""

    response_format: Literal["native", "compat"] = "native"


class _Evidence(OneToken, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One token, and the part of its evidence."""

    key: Annotated[
        str | None,
        msgspec.Meta(description="A key of `left_out`, to read that evidence in full, in parts"),
    ] = None
    offset: Annotated[
        int, msgspec.Meta(ge=0, description="With `key`: where to go on; `next_offset` has it")
    ] = 0


class ChainList(Shape, frozen=True, kw_only=True):
    """The supported chains."""

    chains: tuple[ServedChain, ...]
    """Every supported chain."""


class McpServer:
    """Handler of the protocol's requests, over the services of the API."""

    def __init__(
        self,
        deps: ApiDeps,
        answers: Answers,
        limits: KeyLimits,
        resources: McpResources,
        watches: McpWatches,
        *,
        version: str,
    ):
        self._deps = deps
        self._answers = answers
        self._limits = limits
        self._tools = {
            **self._all_tools(),
            **resources.tools(),
            **watches.tools(),
        }
        server: Server[Any] = Server(
            "assay",
            version=version,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=watches.list_resources,
            on_read_resource=watches.read_resource,
            on_subscriptions_listen=watches.listen,
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

    def _all_tools(self) -> dict[str, McpTool]:
        return {
            "check_token": McpTool(
                description="Verdict on one token, the checks behind it, the powers over it with "
                "their holders, and its record of real trades. Only `safe` is a pass, "
                "and only for what was tested: a flag with status `unknown`, a verdict "
                f"`not_tested` and any null are no answer and never safe. {COUNTS}",
                takes=OneToken,
                gives=(Summary,),
                run=self._check,
            ),
            "token_report": McpTool(
                description="All findings on one token: code, simulated trades, pools, supply, "
                "holders. null means unknown, never safe or false; `pending` resolves later. "
                f"Of many pools the {MOST_POOLS} deepest are shown. {COUNTS}",
                takes=_OneReport,
                gives=(Envelope[NativeFeatures], Envelope[CompatFeatures]),
                run=self._report,
            ),
            "token_evidence": McpTool(
                description="Evidence behind the findings on one token: functions, storage slots, "
                "program counters, outcomes of simulations. A finding without evidence is unknown "
                "or was not found, which is not proof of safety. Long evidence is named in "
                f"`left_out`: read one with `key`, in parts with `offset`. {COUNTS}",
                takes=_Evidence,
                gives=(EvidenceExcerpt,),
                run=self._evidence,
            ),
            "list_chains": McpTool(
                description="Supported chains, and which of them are served here. A token on "
                f"another chain cannot be analysed, which does not make it safe. {FREE}",
                takes=NoArguments,
                gives=(ChainList,),
                run=self._list_chains,
            ),
            "usage": McpTool(
                description="Plan, limits and calls left of the key that is used. null as a limit "
                f"means that there is none. {FREE}",
                takes=NoArguments,
                gives=(KeyUsage,),
                run=self._usage,
            ),
        }

    async def _list_tools(
        self, _: ServerRequestContext[Any], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        tools = [
            Tool(
                name=name,
                description=tool.description,
                input_schema=_schema_of(tool.takes),
                output_schema=_schema_of_any(tool.gives),
                annotations=ToolAnnotations(
                    read_only_hint=tool.is_read_only,
                    destructive_hint=tool.is_destructive,
                    open_world_hint=True,
                ),
            )
            for name, tool in self._tools.items()
        ]
        return ListToolsResult(tools=tools)

    async def _call_tool(
        self, context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        """Run a tool.

        Every failure of one is returned as a tool error, which the agent can read and act on; a
        tool that does not exist is an error of the protocol.
        """
        scope: HTTPScope = context.request.scope  # type: ignore[union-attr]  # always over HTTP
        try:
            return await self._run(params, caller_of(scope))
        except MCPError:
            raise
        except RefusalError as error:
            return _refused(error)
        except StoreError as error:
            _log.error("ledger unavailable", tool=params.name, reason=str(error))
            return _refused(LedgerDownError())
        except Exception as error:  # noqa: BLE001 - the SDK would send its text to the caller
            _log.error("tool failed", tool=params.name, exc_info=error)
            failure = RefusalBody(
                status=500, error_code=None, error="Internal server error.", retry_after_s=None
            )
            return tool_error(msgspec.json.encode(failure))

    async def _run(self, params: CallToolRequestParams, caller: Caller) -> CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            message = f"Unknown tool: {params.name[:64]}; one of {', '.join(self._tools)}"
            raise MCPError(INVALID_PARAMS, message)
        try:
            arguments = msgspec.convert(params.arguments or {}, tool.takes)
        except msgspec.ValidationError as error:
            raise _invalid("arguments", str(error)) from error
        return await tool.run(CalledTool(caller=caller, arguments=arguments))

    async def _check(self, called: CalledTool) -> CallToolResult:
        answer = await self._answer(called, "summary")
        return tool_result(answer.body) if answer.status == _OK else tool_error(answer.body)

    async def _report(self, called: CalledTool) -> CallToolResult:
        answer = await self._answer(called, called.arguments.response_format)
        if answer.status != _OK:
            return tool_error(answer.body)
        body = msgspec.json.decode(answer.body)
        pools = body["features"].get("dex", ())
        if len(pools) <= MOST_POOLS:
            return tool_result(answer.body)
        body["features"]["dex"] = pools[:MOST_POOLS]
        note = (
            f"The {MOST_POOLS} deepest of {len(pools)} pools are shown. "
            f"GET /token/{body['chain']}/{body['contract_address']} has all."
        )
        return tool_result(msgspec.json.encode(body), note)

    async def _evidence(self, called: CalledTool) -> CallToolResult:
        answer = await self._answer(called, "evidence")
        if answer.status != _OK:
            return tool_error(answer.body)
        arguments: _Evidence = called.arguments
        body = msgspec.json.decode(answer.body, type=EvidenceBody)
        if arguments.key is None:
            return tool_result(msgspec.json.encode(excerpt(body)))
        part = excerpt_of(body, arguments.key, offset=arguments.offset)
        if part is None:
            raise _invalid("key", "No such evidence; `left_out` and `evidence` name what there is.")
        return tool_result(msgspec.json.encode(part))

    async def _answer(self, called: CalledTool, form: Format) -> CachedAnswer:
        """Check in the order of the HTTP route: chain, limits, address."""
        arguments: OneToken = called.arguments
        chain = find_chain(self._deps, str(arguments.chain), place="arguments")
        await self._limits.admit(called.caller)
        return await self._answers.answer(chain=chain, address=arguments.address, form=form)

    async def _list_chains(self, _: CalledTool) -> CallToolResult:
        return tool_result(msgspec.json.encode(ChainList(chains=list_chains(self._deps))))

    async def _usage(self, called: CalledTool) -> CallToolResult:
        usage = await read_usage(self._limits, called.caller, now_s=self._deps.now_s())
        return tool_result(msgspec.json.encode(usage))


def make_server(
    deps: ApiDeps,
    answers: Answers,
    limits: KeyLimits,
    keyring: Keyring,
    watch_book: WatchBook | None,
    event_feed: EventFeed | None,
    *,
    version: str,
) -> McpServer:
    """Build the server over the services of the API.

    `watch_book` and `event_feed` None: there are no watches.
    """

    async def is_live(caller: Caller) -> bool:
        return await keyring.is_live(caller, deps.now_s())

    watches = McpWatches(watch_book, event_feed, limits, is_live)
    resources = McpResources(deps, answers, limits)
    return McpServer(deps, answers, limits, resources, watches, version=version)


def _schema_of(takes: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schema of the object inline, as not all agent hosts resolve references."""
    _, components = msgspec.json.schema_components([takes])
    schema: dict[str, Any] = components[takes.__name__]
    return schema


def _schema_of_any(gives: tuple[Any, ...]) -> dict[str, Any]:
    """Return the schema of an object that is one of the types."""
    options, components = msgspec.json.schema_components(gives, ref_template="#/$defs/{name}")
    return {"type": "object", "anyOf": list(options), "$defs": components}


def _invalid(name: str, message: str) -> InvalidInputError:
    return InvalidInputError(InvalidItem(loc=("body", name), msg=message, type="value_error"))


def _refused(error: RefusalError) -> CallToolResult:
    return tool_error(msgspec.json.encode(refusal_body(error)))
