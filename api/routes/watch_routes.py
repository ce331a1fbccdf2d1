"""/watches: notifications of changes of tokens."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import JSONBody, Parameter

from api.auth.keys import caller_of, require_key
from api.auth.limits import KeyLimits
from api.error_answers import (
    CallerRefusalBody,
    ChainNotServedError,
    DetailBody,
    LedgerDownError,
    StoreDownError,
    ValidationBody,
)
from api.openapi.responses import (
    CALLER_RESPONSES,
    documented,
    unknown_value,
)
from api.routes.operations import OperationGroup
from api.watches.watch_book import WatchBook
from api.watches.watch_refusals import NoSuchWatchError, WatchLimitError
from api.watches.watch_shapes import (
    MOST_TOKENS_AT_ONCE,
    CreatedWatch,
    DeliveryList,
    RemovedTokens,
    TokensOfChain,
    WatchedTokenList,
    WatchList,
    WatchRequest,
    WatchView,
)

WatchNumber = Annotated[int, Parameter(description="Number of the watch", ge=1)]


async def count_call(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Guard: count the call against the limits of the key."""
    limits: KeyLimits = connection.app.state.limits
    await limits.admit(caller_of(connection.scope))


async def require_store(
    connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
) -> None:
    """Guard: this deployment has a store that keeps watches."""
    if connection.app.state.watch_book is None:
        raise StoreDownError


WATCHES: Final = OperationGroup(
    tag="watches",
    guards=(require_key, require_store, count_call),
    responses={
        **CALLER_RESPONSES,
        503: documented(
            DetailBody,
            "Chain not served by this deployment; or watches or the ledger of keys are out of "
            "reach",
            chain_not_served=ChainNotServedError(slug="chain_8453"),
            store_down=StoreDownError(),
            ledger_down=LedgerDownError(),
        ),
    },
    max_body_bytes=131_072,
)
"""Operations on watches; each call counts as one."""

ONE_WATCH: Final[Mapping[int, ResponseSpec]] = {
    404: documented(DetailBody, "The key has no such watch", no_such_watch=NoSuchWatchError()),
    422: documented(
        ValidationBody,
        "A bad value",
        bad_number=unknown_value(
            "path", "watch_id", message="Expected `int` >= 1", kind="value_error"
        ),
    ),
}
"""Further responses of the operations on one watch."""

_LIMIT: Final = documented(
    CallerRefusalBody,
    "The plan has no more watches, or no more tokens in them (watch_limit_reached)",
    watch_limit_reached=WatchLimitError(most=100, of="watched tokens"),
)

_BAD_TOKENS: Final = documented(
    ValidationBody,
    f"An unknown chain, a bad address, or more than {MOST_TOKENS_AT_ONCE} of them",
    unknown_chain=unknown_value(
        "body", "chain", message="Unknown chain; one of ethereum (1).", kind="unknown_chain"
    ),
    bad_address=unknown_value(
        "body", "addresses", message="'0x12' is not an EVM address", kind="value_error"
    ),
)


@WATCHES.operation(
    "POST",
    "/watches",
    operation_id="postWatches",
    summary="Watch tokens",
    status=201,
    takes_json=True,
    responses={
        201: documented(CreatedWatch, "The watch, with its secret, which is shown this once"),
        403: _LIMIT,
        422: documented(
            ValidationBody,
            "A wrong value, an unknown chain, or a URL that messages are not sent to",
            refused_url=unknown_value(
                "body",
                "webhook_url",
                message="the URL leads into a private or reserved network",
                kind="value_error",
            ),
        ),
    },
)
async def create_watch(
    request: Request[Any, Any, Any], data: JSONBody[WatchRequest]
) -> CreatedWatch:
    """Makes a watch: settled reports of its tokens are compared with the last notified state, and
    differences are sent.

    Messages are posted to the webhook by the Standard Webhooks specification, signed with the
    secret, at least once and in order; and they can be read by event stream and MCP. A watch
    belongs to the key that makes it.
    """
    return await watch_book_of(request).create(caller_of(request.scope), data)


@WATCHES.operation(
    "GET",
    "/watches",
    operation_id="getWatches",
    summary="The watches of the key",
    responses={200: documented(WatchList, "The watches")},
)
async def list_watches(request: Request[Any, Any, Any]) -> WatchList:
    """All watches of this key, including paused and failing ones."""
    found = await watch_book_of(request).list_views(keys_of(request))
    return WatchList(watches=tuple(found))


@WATCHES.operation(
    "GET",
    "/watches/{watch_id:int}",
    operation_id="getWatch",
    summary="One watch",
    responses={**ONE_WATCH, 200: documented(WatchView, "The watch")},
)
async def show_watch(request: Request[Any, Any, Any], watch_id: WatchNumber) -> WatchView:
    """State of a watch, and the number of messages that wait for its webhook."""
    return await watch_book_of(request).find(keys_of(request), watch_id)


@WATCHES.operation(
    "DELETE",
    "/watches/{watch_id:int}",
    operation_id="deleteWatch",
    summary="Remove a watch",
    status=204,
    responses={**ONE_WATCH, 204: documented(None, "It is removed")},
)
async def delete_watch(request: Request[Any, Any, Any], watch_id: WatchNumber) -> None:
    """Ends the watch and deletes its messages, also those that its webhook has not taken."""
    await watch_book_of(request).remove(keys_of(request), watch_id)


@WATCHES.operation(
    "POST",
    "/watches/{watch_id:int}/pause",
    operation_id="postWatchPause",
    summary="Pause a watch",
    responses={**ONE_WATCH, 200: documented(WatchView, "The watch")},
)
async def pause(request: Request[Any, Any, Any], watch_id: WatchNumber) -> WatchView:
    """Stops new messages and the delivery of waiting ones until the watch is resumed."""
    return await watch_book_of(request).pause(keys_of(request), watch_id)


@WATCHES.operation(
    "POST",
    "/watches/{watch_id:int}/resume",
    operation_id="postWatchResume",
    summary="Resume a watch",
    responses={**ONE_WATCH, 200: documented(WatchView, "The watch")},
)
async def resume(request: Request[Any, Any, Any], watch_id: WatchNumber) -> WatchView:
    """Continues a watch that was paused or is failing, beginning with the waiting messages."""
    return await watch_book_of(request).resume(keys_of(request), watch_id)


@WATCHES.operation(
    "POST",
    "/watches/{watch_id:int}/test",
    operation_id="postWatchTest",
    summary="Send a test message",
    responses={**ONE_WATCH, 200: documented(WatchView, "The watch")},
)
async def send_test(request: Request[Any, Any, Any], watch_id: WatchNumber) -> WatchView:
    """Queues a message of the type watch.test behind the waiting ones; its delivery is listed with
    the others."""
    return await watch_book_of(request).test(keys_of(request), watch_id)


@WATCHES.operation(
    "GET",
    "/watches/{watch_id:int}/tokens",
    operation_id="getWatchTokens",
    summary="The tokens of a watch",
    responses={
        **ONE_WATCH,
        200: documented(WatchedTokenList, "The tokens"),
        422: documented(
            ValidationBody,
            "A bad value",
            bad_after=unknown_value("query", "after", message="Expected `int`", kind="value_error"),
        ),
    },
)
async def show_tokens(
    request: Request[Any, Any, Any],
    watch_id: WatchNumber,
    after: Annotated[
        int, Parameter(description="`next_after` of the answer before", ge=0, le=(1 << 63) - 1)
    ] = 0,
) -> WatchedTokenList:
    """At most 1,000 in one answer."""
    return await watch_book_of(request).tokens(keys_of(request), watch_id, after=after)


@WATCHES.operation(
    "POST",
    "/watches/{watch_id:int}/tokens",
    operation_id="postWatchTokens",
    summary="Add tokens to a watch",
    takes_json=True,
    responses={
        **ONE_WATCH,
        200: documented(WatchView, "The watch"),
        403: _LIMIT,
        422: _BAD_TOKENS,
    },
)
async def add_tokens(
    request: Request[Any, Any, Any], watch_id: WatchNumber, data: JSONBody[TokensOfChain]
) -> WatchView:
    """Adds all of them or, where the plan has no room for them, none. Tokens that it already has
    are unchanged."""
    return await watch_book_of(request).add(caller_of(request.scope), watch_id, data)


@WATCHES.operation(
    "POST",
    "/watches/{watch_id:int}/tokens/remove",
    operation_id="postWatchTokensRemove",
    summary="Take tokens from a watch",
    takes_json=True,
    responses={
        **ONE_WATCH,
        200: documented(RemovedTokens, "How many it had"),
        422: _BAD_TOKENS,
    },
)
async def remove_tokens(
    request: Request[Any, Any, Any], watch_id: WatchNumber, data: JSONBody[TokensOfChain]
) -> RemovedTokens:
    """Tokens that it does not have are ignored."""
    removed = await watch_book_of(request).remove_tokens(keys_of(request), watch_id, data)
    return RemovedTokens(removed=removed)


@WATCHES.operation(
    "GET",
    "/watches/{watch_id:int}/deliveries",
    operation_id="getWatchDeliveries",
    summary="The last messages of a watch",
    responses={**ONE_WATCH, 200: documented(DeliveryList, "The messages")},
)
async def show_deliveries(request: Request[Any, Any, Any], watch_id: WatchNumber) -> DeliveryList:
    """The last messages with their bodies, and the outcome of their deliveries."""
    found = await watch_book_of(request).deliveries(keys_of(request), watch_id)
    return DeliveryList(deliveries=found)


def keys_of(request: Request[Any, Any, Any]) -> tuple[int, ...]:
    """Return the calling key, whose watches the caller may see."""
    return (caller_of(request.scope).key.key_id,)


def watch_book_of(request: Request[Any, Any, Any]) -> WatchBook:
    """Return the watch book; `require_store` has checked that there is one."""
    watch_book: WatchBook = request.app.state.watch_book
    return watch_book
