"""/watches/events: messages of watches as server-sent events."""

from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any, Final

from litestar import Request, get
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import Parameter
from litestar.response import ServerSentEvent

from api.auth.keys import Keyring, caller_of
from api.auth.networks import network_of
from api.deps import ApiDeps
from api.error_answers import (
    DetailBody,
    InvalidInputError,
    InvalidItem,
    LimitedError,
    ValidationBody,
)
from api.openapi.responses import documented, unknown_value
from api.routes.watch_routes import (
    ONE_WATCH,
    WATCHES,
    WatchNumber,
    keys_of,
    watch_book_of,
)
from api.serving.methods import is_head
from api.watches.event_feed import EventFeed, Listening
from api.watches.watch_refusals import TooManyStreamsError

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

_MORE: Final[Mapping[int, ResponseSpec]] = {
    200: _STREAM,
    422: documented(
        ValidationBody,
        "A bad value",
        bad_id=unknown_value(
            "header", "Last-Event-ID", message="Not the id of an event.", kind="value_error"
        ),
    ),
    429: documented(
        DetailBody,
        "A limit is reached, or the key or its network has too many streams open",
        burst=LimitedError(detail="Limit of 5 calls in 10 seconds reached.", headers={}),
        too_many_streams=TooManyStreamsError(whose="This key", most=10),
    ),
}

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
    caller = caller_of(request.scope)
    last = request.headers.get("Last-Event-ID", "").strip()
    begins_after = _event_id(last) if last else after
    deps: ApiDeps = request.app.state.deps
    keyring: Keyring = request.app.state.keyring
    place = event_feed.places.take(caller.key.key_id, network_of(request))
    if is_head(request.scope):
        place.free()
        return ServerSentEvent(_nothing())
    listening = Listening(
        place=place, key_id=caller.key.key_id, watch_id=watch_id, after=begins_after
    )
    return ServerSentEvent(
        event_feed.stream(listening, is_live=lambda: keyring.is_live(caller, deps.now_s()))
    )


def _event_id(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) < 1 << 63:
        return int(text)
    raise InvalidInputError(
        InvalidItem(
            loc=("header", "Last-Event-ID"), msg="Not the id of an event.", type="value_error"
        )
    )


async def _nothing() -> AsyncIterator[str]:
    return
    yield
