"""/watches: who is told of changes of which tokens."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from litestar import Request, Response, delete, get, post
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
    NOT_JSON,
    TOO_LARGE,
    documented,
    unknown_value,
)
from api.routes.agent_keys import require_json
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

MAX_BODY_BYTES: Final = 131_072
"""Room for a thousand addresses."""

_TAGS: Final = ["watches"]
_KEY: Final[list[dict[str, list[str]]]] = [{"ApiKey": []}]
_NOT_STORED: Final = {"Cache-Control": "no-store"}

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


GUARDS: Final = (require_key, require_store, count_call)
"""Of every route here: each call counts as one."""

WATCH_RESPONSES: Final[Mapping[int, ResponseSpec]] = {
    **CALLER_RESPONSES,
    503: documented(
        DetailBody,
        "Chain not served by this deployment; or watches or the ledger of keys are out of reach",
        chain_not_served=ChainNotServedError(slug="chain_8453"),
        store_down=StoreDownError(),
        ledger_down=LedgerDownError(),
    ),
}
"""What every route here may answer."""

ONE_WATCH_RESPONSES: Final[Mapping[int, ResponseSpec]] = {
    **WATCH_RESPONSES,
    404: documented(DetailBody, "The key has no such watch", no_such_watch=NoSuchWatchError()),
    422: documented(
        ValidationBody,
        "A bad value",
        bad_number=unknown_value(
            "path", "watch_id", message="Expected `int` >= 1", kind="value_error"
        ),
    ),
}
"""What every route of one watch may answer."""

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


@post(
    "/watches",
    status_code=201,
    guards=[*GUARDS, require_json],
    security=_KEY,
    request_max_body_size=MAX_BODY_BYTES,
    operation_id="postWatches",
    summary="Watch tokens",
    tags=_TAGS,
    responses={
        **WATCH_RESPONSES,
        201: documented(CreatedWatch, "The watch, with its secret, which is shown this once"),
        400: NOT_JSON,
        403: _LIMIT,
        413: TOO_LARGE,
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
) -> Response[CreatedWatch]:
    """Make a watch: from the first settled report of each token on, every settled report is
    compared with what was told last, and what differs is told.

    Messages are posted to the webhook as the Standard Webhooks specification has it, signed with
    the secret, at least once and in order; and they can be read by event stream and MCP. A watch
    belongs to the key that makes it.
    """
    book = book_of(request)
    made = await book.create(caller_of(request.scope), data)
    return Response(made, status_code=201, headers=_NOT_STORED)


@get(
    "/watches",
    guards=[*GUARDS],
    security=_KEY,
    operation_id="getWatches",
    summary="The watches of the key",
    tags=_TAGS,
    responses={**WATCH_RESPONSES, 200: documented(WatchList, "The watches")},
)
async def list_watches(request: Request[Any, Any, Any]) -> Response[WatchList]:
    """All watches that this key has made, paused and failing ones too."""
    found = await book_of(request).list_of(keys_of(request))
    return Response(WatchList(watches=tuple(found)), headers=_NOT_STORED)


@get(
    "/watches/{watch_id:int}",
    guards=[*GUARDS],
    security=_KEY,
    operation_id="getWatch",
    summary="One watch",
    tags=_TAGS,
    responses={**ONE_WATCH_RESPONSES, 200: documented(WatchView, "The watch")},
)
async def show_watch(request: Request[Any, Any, Any], watch_id: WatchNumber) -> Response[WatchView]:
    """State of a watch, and how many messages wait for its webhook."""
    found = await book_of(request).find(keys_of(request), watch_id)
    return Response(found, headers=_NOT_STORED)


@delete(
    "/watches/{watch_id:int}",
    status_code=204,
    guards=[*GUARDS],
    security=_KEY,
    operation_id="deleteWatch",
    summary="Remove a watch",
    tags=_TAGS,
    responses={**ONE_WATCH_RESPONSES, 204: documented(None, "It is removed")},
)
async def delete_watch(request: Request[Any, Any, Any], watch_id: WatchNumber) -> None:
    """Ends the watch with its messages, those too that its webhook has not taken."""
    await book_of(request).remove(keys_of(request), watch_id)


@post(
    "/watches/{watch_id:int}/pause",
    status_code=200,
    guards=[*GUARDS],
    security=_KEY,
    operation_id="postWatchPause",
    summary="Pause a watch",
    tags=_TAGS,
    responses={**ONE_WATCH_RESPONSES, 200: documented(WatchView, "The watch")},
)
async def pause(request: Request[Any, Any, Any], watch_id: WatchNumber) -> Response[WatchView]:
    """Nothing more is told to it, and what waits is not sent, until it is resumed."""
    found = await book_of(request).pause(keys_of(request), watch_id)
    return Response(found, headers=_NOT_STORED)


@post(
    "/watches/{watch_id:int}/resume",
    status_code=200,
    guards=[*GUARDS],
    security=_KEY,
    operation_id="postWatchResume",
    summary="Resume a watch",
    tags=_TAGS,
    responses={**ONE_WATCH_RESPONSES, 200: documented(WatchView, "The watch")},
)
async def resume(request: Request[Any, Any, Any], watch_id: WatchNumber) -> Response[WatchView]:
    """Goes on with a watch that was paused or is failing, beginning with the messages that wait."""
    found = await book_of(request).resume(keys_of(request), watch_id)
    return Response(found, headers=_NOT_STORED)


@post(
    "/watches/{watch_id:int}/test",
    status_code=200,
    guards=[*GUARDS],
    security=_KEY,
    operation_id="postWatchTest",
    summary="Send a test message",
    tags=_TAGS,
    responses={**ONE_WATCH_RESPONSES, 200: documented(WatchView, "The watch")},
)
async def send_test(request: Request[Any, Any, Any], watch_id: WatchNumber) -> Response[WatchView]:
    """A message of the type watch.test, behind those that wait; its delivery stands with the
    others."""
    found = await book_of(request).test(keys_of(request), watch_id)
    return Response(found, headers=_NOT_STORED)


@get(
    "/watches/{watch_id:int}/tokens",
    guards=[*GUARDS],
    security=_KEY,
    operation_id="getWatchTokens",
    summary="The tokens of a watch",
    tags=_TAGS,
    responses={
        **ONE_WATCH_RESPONSES,
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
) -> Response[WatchedTokenList]:
    """At most 1,000 at once."""
    found = await book_of(request).tokens(keys_of(request), watch_id, after=after)
    return Response(found, headers=_NOT_STORED)


@post(
    "/watches/{watch_id:int}/tokens",
    status_code=200,
    guards=[*GUARDS, require_json],
    security=_KEY,
    request_max_body_size=MAX_BODY_BYTES,
    operation_id="postWatchTokens",
    summary="Add tokens to a watch",
    tags=_TAGS,
    responses={
        **ONE_WATCH_RESPONSES,
        200: documented(WatchView, "The watch"),
        400: NOT_JSON,
        403: _LIMIT,
        413: TOO_LARGE,
        422: _BAD_TOKENS,
    },
)
async def add_tokens(
    request: Request[Any, Any, Any], watch_id: WatchNumber, data: JSONBody[TokensOfChain]
) -> Response[WatchView]:
    """All of them or, where the plan has no room for them, none. Those that it has stay as they
    are."""
    found = await book_of(request).add(caller_of(request.scope), watch_id, data)
    return Response(found, headers=_NOT_STORED)


@post(
    "/watches/{watch_id:int}/tokens/remove",
    status_code=200,
    guards=[*GUARDS, require_json],
    security=_KEY,
    request_max_body_size=MAX_BODY_BYTES,
    operation_id="postWatchTokensRemove",
    summary="Take tokens from a watch",
    tags=_TAGS,
    responses={
        **ONE_WATCH_RESPONSES,
        200: documented(RemovedTokens, "How many it had"),
        400: NOT_JSON,
        413: TOO_LARGE,
        422: _BAD_TOKENS,
    },
)
async def remove_tokens(
    request: Request[Any, Any, Any], watch_id: WatchNumber, data: JSONBody[TokensOfChain]
) -> Response[RemovedTokens]:
    """Tokens that it does not have are passed over."""
    removed = await book_of(request).take_away(keys_of(request), watch_id, data)
    return Response(RemovedTokens(removed=removed), headers=_NOT_STORED)


@get(
    "/watches/{watch_id:int}/deliveries",
    guards=[*GUARDS],
    security=_KEY,
    operation_id="getWatchDeliveries",
    summary="The last messages of a watch",
    tags=_TAGS,
    responses={**ONE_WATCH_RESPONSES, 200: documented(DeliveryList, "The messages")},
)
async def show_deliveries(
    request: Request[Any, Any, Any], watch_id: WatchNumber
) -> Response[DeliveryList]:
    """The last messages with their bodies, and what became of them at the webhook."""
    found = await book_of(request).deliveries(keys_of(request), watch_id)
    return Response(DeliveryList(deliveries=found), headers=_NOT_STORED)


def keys_of(request: Request[Any, Any, Any]) -> tuple[int, ...]:
    """Return the key that calls, whose watches it may see."""
    return (caller_of(request.scope).key.key_id,)


def book_of(request: Request[Any, Any, Any]) -> WatchBook:
    """Return the watches, which `require_store` has found to be there."""
    book: WatchBook = request.app.state.watch_book
    return book
