"""Server-sent events: /watches/events, messages of watches; /feed/{chain}, news of a chain."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Annotated, Any, Final

from litestar import Request, Response, get
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import Parameter
from litestar.response import ServerSentEvent, ServerSentEventMessage

from api.auth.keys import Keyring, caller_of, require_key
from api.auth.limits import KeyLimits
from api.auth.networks import network_of
from api.deps import ApiDeps
from api.error_answers import (
    DetailBody,
    InvalidInputError,
    InvalidItem,
    LimitedError,
    StoreDownError,
    ValidationBody,
)
from api.openapi.responses import CALLER_RESPONSES, UNKNOWN_CHAIN, documented, unknown_value
from api.routes.token import ChainName, chain_of, require_chain
from api.routes.watch_routes import (
    ONE_WATCH,
    WATCHES,
    WatchNumber,
    keys_of,
    watch_book_of,
)
from api.serving.answers import Answers
from api.serving.methods import is_head
from api.watches.chain_feed import ChainFeed
from api.watches.event_feed import EventFeed, Listening, StreamPlace
from api.watches.feed_shapes import FeedPage, FeedSnapshot
from api.watches.watch_refusals import TooManyStreamsError
from config.facts.chain import Chain
from core.errors import StoreError

_EXAMPLE: Final = (
    "id: 41\r\nevent: token.changed\r\n"
    'data: {"type":"token.changed","timestamp":"2026-11-23T17:04:11Z","data":{}}\r\n\r\n'
)

_STREAM: Final = ResponseSpec(
    str,
    description="Events, until one side ends it; `data` is a MessageBody",
    generate_examples=False,
    media_type="text/event-stream",
    examples=[Example(id="changed", value=_EXAMPLE)],
)

_BAD_ID: Final = unknown_value(
    "header", "Last-Event-ID", message="Not the id of an event.", kind="value_error"
)

_TOO_MANY: Final = documented(
    DetailBody,
    "A limit is reached, or the key or its network has too many streams open",
    burst=LimitedError(detail="Limit of 5 calls in 10 seconds reached.", headers={}),
    too_many_streams=TooManyStreamsError(whose="This key", most=10),
)

_MORE: Final[Mapping[int, ResponseSpec]] = {
    200: _STREAM,
    422: documented(ValidationBody, "A bad value", bad_id=_BAD_ID),
    429: _TOO_MANY,
}

IsLive = Callable[[], Awaitable[bool]]
"""True while the key of a stream is valid."""

After = Annotated[
    int | None,
    Parameter(
        description="Begin behind this event, where Last-Event-ID cannot be sent; 0: with the "
        "oldest that is kept. null: with what comes from now on",
        ge=0,
        le=(1 << 63) - 1,
    ),
]


@get(
    "/watches/events",
    guards=[*WATCHES.guards],
    security=[{"ApiKey": []}],
    operation_id="getWatchesEvents",
    summary="Messages of all watches, as they come",
    tags=[WATCHES.tag],
    responses={**WATCHES.responses, **_MORE},
)
async def stream_all(request: Request[Any, Any, Any], after: After = None) -> ServerSentEvent:
    """Server-sent events of all watches of the key, including watches made later.

    A client that connects again sends Last-Event-ID, and misses nothing that is still kept; an
    event `gap` reports deleted messages. The stream ends after an hour at the latest. Opening one
    counts as a call.
    """
    return _stream(request, None, after)


@get(
    "/watches/{watch_id:int}/events",
    guards=[*WATCHES.guards],
    security=[{"ApiKey": []}],
    operation_id="getWatchEvents",
    summary="Messages of a watch, as they come",
    tags=[WATCHES.tag],
    responses={**WATCHES.responses, **ONE_WATCH, **_MORE},
)
async def stream_one(
    request: Request[Any, Any, Any], watch_id: WatchNumber, after: After = None
) -> ServerSentEvent:
    """Server-sent events of one watch; like those of all watches, and over once it is removed."""
    await watch_book_of(request).find(keys_of(request), watch_id)
    return _stream(request, watch_id, after)


def _stream(
    request: Request[Any, Any, Any], watch_id: int | None, after: int | None
) -> ServerSentEvent:
    event_feed: EventFeed = request.app.state.event_feed
    key_id = caller_of(request.scope).key.key_id
    begins_after = _last_seen(request, after)

    def open_stream(place: StreamPlace, is_live: IsLive) -> AsyncIterator[ServerSentEventMessage]:
        listening = Listening(place=place, key_id=key_id, watch_id=watch_id, after=begins_after)
        return event_feed.stream(listening, is_live=is_live)

    return _open(request, open_stream)


def _last_seen(request: Request[Any, Any, Any], after: int | None) -> int | None:
    """Return the event after which a stream begins: that of the header, or else the parameter.

    Raises InvalidInputError.
    """
    last = request.headers.get("Last-Event-ID", "").strip()
    return _parse_event_id(last) if last else after


def _open(
    request: Request[Any, Any, Any],
    open_stream: Callable[[StreamPlace, IsLive], AsyncIterator[ServerSentEventMessage]],
) -> ServerSentEvent:
    """Answer with a stream in a place of the caller, which a HEAD gives back at once."""
    deps: ApiDeps = request.app.state.deps
    keyring: Keyring = request.app.state.keyring
    event_feed: EventFeed = request.app.state.event_feed
    caller = caller_of(request.scope)
    place = event_feed.places.take(caller.key.key_id, network_of(request))
    if is_head(request.scope):
        place.free()
        return ServerSentEvent(_no_messages())
    return ServerSentEvent(open_stream(place, lambda: keyring.is_live(caller, deps.now_s())))


def _parse_event_id(text: str) -> int:
    """Parse the header Last-Event-ID. Raises InvalidInputError."""
    if text.isascii() and text.isdigit() and int(text) < 1 << 63:
        return int(text)
    raise InvalidInputError(
        InvalidItem(
            loc=("header", "Last-Event-ID"), msg="Not the id of an event.", type="value_error"
        )
    )


async def _no_messages() -> AsyncIterator[str]:
    return
    yield


_FEED_EXAMPLE: Final = (
    "id: 815\r\nevent: withdrawal\r\n"
    'data: {"cursor":815,"chain":"ethereum","kind":"withdrawal","block_number":21043377}\r\n\r\n'
)

_FEED_STREAM: Final = ResponseSpec(
    str,
    description="Events, until one side ends it; `data` is a FeedEvent, or the number of a gap",
    generate_examples=False,
    media_type="text/event-stream",
    examples=[Example(id="withdrawal", value=_FEED_EXAMPLE)],
)


@get(
    "/feed/{chain:str}",
    guards=[require_key, require_chain],
    security=[{"ApiKey": []}],
    operation_id="getFeed",
    summary="Feed of a chain, as it comes",
    tags=["feed"],
    responses={
        **CALLER_RESPONSES,
        200: _FEED_STREAM,
        422: documented(
            ValidationBody,
            "The chain is unknown, or a cursor is none",
            unknown_chain=UNKNOWN_CHAIN,
            bad_id=_BAD_ID,
        ),
        429: _TOO_MANY,
    },
)
async def stream_feed(
    request: Request[Any, Any, Any], chain: ChainName, after: After = None
) -> ServerSentEvent:
    """Server-sent events of every new launch, changed verdict and withdrawal of liquidity.

    The id of an event is its cursor. A client that connects again sends the last one as
    Last-Event-ID, and misses nothing that is still kept; an event `gap` reports deleted lines, and
    `reorg` the first block whose earlier lines are void. The stream ends after an hour at the
    latest. Opening one counts as a call.
    """
    feed, named = await _admitted(request)
    begins_after = _last_seen(request, after)
    return _open(
        request,
        lambda place, is_live: feed.stream(named, place=place, after=begins_after, is_live=is_live),
    )


@get(
    "/feed/{chain:str}/lines",
    guards=[require_key, require_chain],
    security=[{"ApiKey": []}],
    operation_id="getFeedLines",
    summary="Lines of the feed of a chain",
    tags=["feed"],
    responses={
        **CALLER_RESPONSES,
        200: documented(FeedPage, "The next lines"),
        422: documented(
            ValidationBody, "The chain is unknown, or `after` is none", unknown_chain=UNKNOWN_CHAIN
        ),
    },
)
async def get_lines(
    request: Request[Any, Any, Any],
    chain: ChainName,
    after: Annotated[
        int, Parameter(description="`cursor` of the answer before", ge=0, le=(1 << 63) - 1)
    ] = 0,
) -> Response[FeedPage]:
    """The lines that the stream sends, for callers that poll. Counts as one call."""
    feed, named = await _admitted(request)
    try:
        found = await feed.read_page(named, after=after)
    except StoreError as error:
        raise StoreDownError from error
    return Response(found, headers={"Cache-Control": "no-store"})


@get(
    "/feed/{chain:str}/snapshot",
    guards=[require_key, require_chain],
    security=[{"ApiKey": []}],
    operation_id="getFeedSnapshot",
    summary="Current verdicts of a chain, with the cursor to go on from",
    tags=["feed"],
    responses={
        **CALLER_RESPONSES,
        200: documented(FeedSnapshot, "A part of the verdicts"),
        422: documented(
            ValidationBody, "The chain is unknown, or `after` is none", unknown_chain=UNKNOWN_CHAIN
        ),
    },
)
async def get_snapshot(
    request: Request[Any, Any, Any],
    chain: ChainName,
    after: Annotated[
        int, Parameter(description="`next_after` of the answer before", ge=0, le=(1 << 63) - 1)
    ] = 0,
) -> Response[FeedSnapshot]:
    """At most 1,000 tokens in one answer. Read all parts, then stream from the cursor of the first.

    Parts are of different moments: applying the events since the first part again gives the state
    of now. Counts as one call.
    """
    feed, named = await _admitted(request)
    try:
        found = await feed.read_snapshot(named, after=after)
    except StoreError as error:
        raise StoreDownError from error
    return Response(found, headers={"Cache-Control": "no-store"})


async def _admitted(request: Request[Any, Any, Any]) -> tuple[ChainFeed, Chain]:
    """Count a call, and return the feed and the chain that it is of. Raises RefusalError."""
    limits: KeyLimits = request.app.state.limits
    await limits.admit(caller_of(request.scope))
    feed: ChainFeed | None = request.app.state.chain_feed
    if feed is None:
        raise StoreDownError
    answers: Answers = request.app.state.answers
    return feed, answers.chain(chain_of(request))
