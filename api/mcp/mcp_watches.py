"""Watches for agents: tools, a resource for each watch, and notifications of its messages.

A notification announces that there is something to read. Messages are kept, so late readers miss
nothing.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Annotated, Any, cast

import msgspec
from litestar.connection import ASGIConnection
from litestar.types import HTTPScope
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolResult,
    ListResourcesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    TextResourceContents,
)

from api.auth.keys import Caller, caller_of
from api.auth.limits import KeyLimits
from api.auth.networks import network_of
from api.error_answers import RefusalError, StoreDownError
from api.mcp.mcp_tool import COUNTS, FREE, CalledTool, McpTool, NoArguments, tool_result
from api.watches.event_feed import EventFeed, Gap, Listening
from api.watches.watch_book import WatchBook
from api.watches.watch_shapes import (
    CreatedWatch,
    DeliveryList,
    RemovedTokens,
    WatchList,
    WatchRequest,
    WatchView,
)
from sql.watches.watch_messages import WatchMessage

_URI = re.compile(r"assay://watches/([1-9][0-9]{0,17})")
_SHOWN = 30


class _OneWatch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One watch."""

    watch_id: Annotated[
        int, msgspec.Meta(ge=1, description="Number of the watch; list_watches has them")
    ]


class McpWatches:
    """Watches of the calling key. None in place of the two services: there are no watches."""

    def __init__(
        self,
        watch_book: WatchBook | None,
        event_feed: EventFeed | None,
        limits: KeyLimits,
        is_live: Callable[[Caller], Awaitable[bool]],
    ) -> None:
        """`is_live`: True if a key is neither revoked nor expired."""
        self._watch_book = watch_book
        self._event_feed = event_feed
        self._limits = limits
        self._is_live = is_live

    def tools(self) -> dict[str, McpTool]:
        """Return the tools by name."""
        return {
            "watch_tokens": McpTool(
                description="Watch tokens from now on: when verdict, trading, taxes, owner, "
                "deadlines, liquidity or checks of one change, a message is sent. Read messages "
                "with watch_messages or the resource of the watch, or have them posted to "
                "`webhook_url`. No message means that no change was seen, not that a token is "
                f"safe. {COUNTS}",
                takes=WatchRequest,
                gives=(CreatedWatch,),
                run=self._create,
                is_read_only=False,
            ),
            "list_watches": McpTool(
                description="Watches of the key, paused and failing ones too; a watch that is not "
                f"active sends nothing. {FREE}",
                takes=NoArguments,
                gives=(WatchList,),
                run=self._list,
            ),
            "watch_messages": McpTool(
                description=f"The last {_SHOWN} messages of a watch, newest first: what changed, "
                f"before and after, at which block. null means unknown. {FREE}",
                takes=_OneWatch,
                gives=(DeliveryList,),
                run=self._messages,
            ),
            "remove_watch": McpTool(
                description=f"End a watch and delete its messages. {FREE}",
                takes=_OneWatch,
                gives=(RemovedTokens,),
                run=self._remove,
                is_read_only=False,
                is_destructive=True,
            ),
        }

    async def list_resources(
        self, context: ServerRequestContext[Any], _: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """Return a resource for each watch of the key."""
        watches = await self._refusals_raised(self._views(_caller(context)))
        return ListResourcesResult(
            resources=[
                Resource(
                    uri=_uri_of(watch.id),
                    name=watch.name,
                    description=f"{watch.tokens} tokens, {watch.state}: what changed, newest first",
                    mime_type="application/json",
                )
                for watch in watches
            ],
            cache_scope="private",
        )

    async def read_resource(
        self, context: ServerRequestContext[Any], params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """Return the last messages of a watch as JSON."""
        found = _URI.fullmatch(params.uri)
        if found is None:
            raise MCPError(INVALID_PARAMS, "A resource is assay://watches/ and a number")
        body = await self._refusals_raised(self._read(_caller(context), int(found[1])))
        text = TextResourceContents(uri=params.uri, mime_type="application/json", text=body)
        return ReadResourceResult(contents=[text], cache_scope="private")

    async def listen(
        self, context: ServerRequestContext[Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Notify of messages of the requested watches until one side ends the stream.

        Watches of other keys are left out.
        """
        caller = _caller(context)
        own = {_uri_of(watch.id) for watch in await self._refusals_raised(self._views(caller))}
        if self._event_feed is None:
            raise MCPError(INVALID_PARAMS, "This deployment keeps no watches")
        try:
            place = self._event_feed.places.take(caller.key.key_id, _network(context))
        except RefusalError as error:
            raise MCPError(INVALID_PARAMS, msgspec.json.encode(error.body).decode()) from error
        arguments = params.notifications
        uris = [uri for uri in arguments.resource_subscriptions or () if uri in own]
        filtered = arguments.model_copy(
            update={"resource_subscriptions": uris, "resources_list_changed": None}
        )
        bus = InMemorySubscriptionBus()
        handler = ListenHandler(bus)
        listening = Listening(place=place, key_id=caller.key.key_id, watch_id=None, after=None)
        messages = self._event_feed.follow(listening, is_live=lambda: self._is_live(caller))
        async with aclosing(messages):
            await anext(messages)  # from here on nothing is missed
            pump = asyncio.create_task(_pump(messages, bus, handler))
            try:
                return await handler(context, params.model_copy(update={"notifications": filtered}))
            finally:
                pump.cancel()
                await asyncio.gather(pump, return_exceptions=True)

    async def _create(self, called: CalledTool) -> CallToolResult:
        await self._limits.admit(called.caller)
        made = await self._open().create(called.caller, called.arguments)
        return tool_result(msgspec.json.encode(made))

    async def _list(self, called: CalledTool) -> CallToolResult:
        watches = await self._views(called.caller)
        return tool_result(msgspec.json.encode(WatchList(watches=tuple(watches))))

    async def _messages(self, called: CalledTool) -> CallToolResult:
        arguments: _OneWatch = called.arguments
        return tool_result((await self._read(called.caller, arguments.watch_id)).encode())

    async def _remove(self, called: CalledTool) -> CallToolResult:
        arguments: _OneWatch = called.arguments
        keys = (called.caller.key.key_id,)
        tokens = (await self._open().find(keys, arguments.watch_id)).tokens
        await self._open().remove(keys, arguments.watch_id)
        return tool_result(msgspec.json.encode(RemovedTokens(removed=tokens)))

    async def _views(self, caller: Caller) -> list[WatchView]:
        return await self._open().list_views((caller.key.key_id,))

    async def _read(self, caller: Caller, watch_id: int) -> str:
        found = await self._open().deliveries((caller.key.key_id,), watch_id)
        return msgspec.json.encode(DeliveryList(deliveries=found[:_SHOWN])).decode()

    def _open(self) -> WatchBook:
        if self._watch_book is None:
            raise StoreDownError
        return self._watch_book

    async def _refusals_raised(self, work: Awaitable[Any]) -> Any:
        """Return the result; raise a refusal as an error of the protocol."""
        try:
            return await work
        except RefusalError as error:
            raise MCPError(INVALID_PARAMS, msgspec.json.encode(error.body).decode()) from error


async def _pump(
    messages: AsyncIterator[WatchMessage | Gap | None],
    bus: InMemorySubscriptionBus,
    handler: ListenHandler,
) -> None:
    """Publish the arrival of messages; close the stream when there will be no more."""
    try:
        async for message in messages:
            if isinstance(message, WatchMessage):
                await bus.publish(ResourceUpdated(uri=_uri_of(message.watch_id)))
    finally:
        handler.close()


def _uri_of(watch_id: int) -> str:
    return f"assay://watches/{watch_id}"


def _caller(context: ServerRequestContext[Any]) -> Caller:
    return caller_of(_scope(context))


def _network(context: ServerRequestContext[Any]) -> str:
    return network_of(ASGIConnection(_scope(context)))


def _scope(context: ServerRequestContext[Any]) -> HTTPScope:
    scope: HTTPScope = cast("Any", context.request).scope  # MCP is served over HTTP only
    return scope
