"""Live messages of watches, for callers that keep a connection open.

The store is polled four times a second while any stream is open, which wakes the streams with new
messages. Each reads at the pace of its connection, so memory stays bounded.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeVar

import msgspec
import structlog
from litestar.response import ServerSentEventMessage

from api.watches.message_body import MessageRenderer
from api.watches.watch_refusals import TooManyStreamsError
from core.errors import StoreError
from sql.engine.store import Store
from sql.watches.watch_messages import WatchMessage, find_newest_message, list_after, list_new
from sql.watches.watches import Watch, find_watch, list_watches_of

_Owner = TypeVar("_Owner", int, str)

MOST_STREAMS: Final = 1_000
"""Event streams that a process may have open."""

MOST_STREAMS_OF_KEY = 10
"""Event streams that one key may have open."""

MOST_STREAMS_OF_NETWORK = 50
"""Event streams that one network may have open, over all its keys."""

_BEGUN_WITHIN_S: Final = 10.0
"""Seconds after which a place is free again if its stream has not begun: the caller is gone."""

LONGEST_S = 3_600.0
"""Seconds after which a stream ends. Clients connect again, and continue where they were."""

HEARTBEAT_S = 15.0
"""Seconds between heartbeats of an idle stream."""

_LOOK_EVERY_S = 0.25
_READ_AT_ONCE = 100
_RETRY_MS = 2_000

_LOG = structlog.get_logger(__name__)


class StreamPlace:
    """Place of one stream: taken at once, held while the stream is open."""

    def __init__(self, places: "StreamPlaces", key_id: int, network: str) -> None:
        self._places = places
        self._key_id = key_id
        self._network = network
        self._is_free = False
        loop = asyncio.get_running_loop()
        self._unused = loop.call_later(_BEGUN_WITHIN_S, self.free)

    def begin(self) -> None:
        """Hold the place until `free`."""
        self._unused.cancel()

    def free(self) -> None:
        """Give the place back; a second call has no effect."""
        self._unused.cancel()
        if not self._is_free:
            self._is_free = True
            self._places.give_back(self._key_id, self._network)


class StreamPlaces:
    """All places of a process."""

    def __init__(self) -> None:
        self._of_key = Counter[int]()
        self._of_network = Counter[str]()

    def take(self, key_id: int, network: str) -> StreamPlace:
        """Take a place. Raises TooManyStreamsError if there is none.

        Check and count are one step, so simultaneous calls cannot pass together.
        """
        if self._of_key.get(key_id, 0) >= MOST_STREAMS_OF_KEY:
            raise TooManyStreamsError(whose="This key", most=MOST_STREAMS_OF_KEY)
        if self._of_network.get(network, 0) >= MOST_STREAMS_OF_NETWORK:
            raise TooManyStreamsError(whose="This network", most=MOST_STREAMS_OF_NETWORK)
        if self._of_key.total() >= MOST_STREAMS:
            raise TooManyStreamsError(whose="This service", most=MOST_STREAMS)
        self._of_key[key_id] += 1
        self._of_network[network] += 1
        return StreamPlace(self, key_id, network)

    def give_back(self, key_id: int, network: str) -> None:
        """Count a stream out."""
        _decrement(self._of_key, key_id)
        _decrement(self._of_network, network)


def _decrement(counts: Counter[_Owner], owner: _Owner) -> None:
    counts[owner] -= 1
    if not counts[owner]:
        del counts[owner]


class Listening(msgspec.Struct, frozen=True, kw_only=True):
    """Subscription of one stream."""

    place: StreamPlace
    key_id: int
    watch_id: int | None
    """None: all watches of the key."""
    after: int | None
    """Number of the last message that the caller has. None: only new messages are sent."""


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """Messages that the caller has missed, as they were too old and deleted."""

    forgotten_up_to: int
    """Number of the last one."""


class _Listener(msgspec.Struct, kw_only=True, eq=False):
    key_id: int
    watch_id: int | None
    wake: asyncio.Event

    def hears(self, *, key_id: int | None, watch_id: int) -> bool:
        return self.key_id == key_id and self.watch_id in (None, watch_id)


class EventFeed:
    """The open event streams of a deployment."""

    def __init__(
        self, store: Store, renderer: MessageRenderer, *, stop: asyncio.Event | None = None
    ) -> None:
        """`stop`: streams end when it is set, as a server waits for open connections."""
        self._store = store
        self._renderer = renderer
        self._stop = stop or asyncio.Event()
        self._listeners: set[_Listener] = set()
        self.places = StreamPlaces()
        self._looking: asyncio.Task[None] | None = None

    async def aclose(self) -> None:
        """End the streams."""
        self._stop.set()
        if self._looking is not None:
            await self._looking

    async def stream(
        self, listening: Listening, *, is_live: Callable[[], Awaitable[bool]]
    ) -> AsyncIterator[ServerSentEventMessage]:
        """Yield the messages of `follow` as server-sent events; a comment while there are none."""
        retry_ms: int | None = _RETRY_MS  # sent once, with the first heartbeat
        async for message in self.follow(listening, is_live=is_live):
            if isinstance(message, WatchMessage):
                body = self._renderer.body(message)
                yield ServerSentEventMessage(
                    id=message.id, event=body.type, data=msgspec.json.encode(body)
                )
            elif isinstance(message, Gap):
                yield ServerSentEventMessage(event="gap", data=msgspec.json.encode(message))
            else:
                yield ServerSentEventMessage(comment="nothing new", data=None, retry=retry_ms)
                retry_ms = None

    async def follow(
        self, listening: Listening, *, is_live: Callable[[], Awaitable[bool]]
    ) -> AsyncGenerator[WatchMessage | Gap | None, None]:
        """Yield messages in order; None at first, and whenever there is none for a while.

        No message is missed after the first None.

        Ends after `LONGEST_S`, when `is_live` returns False, when the watch is deleted, when the
        service ends, and when the store cannot be read.
        """
        listener = _Listener(
            key_id=listening.key_id, watch_id=listening.watch_id, wake=asyncio.Event()
        )
        listening.place.begin()
        self._listeners.add(listener)
        try:
            async for message in self._follow(listening, listener, is_live):
                yield message
        except StoreError as error:
            _LOG.error("event stream failed", why=str(error))
        finally:
            self._listeners.discard(listener)
            listening.place.free()

    async def _follow(
        self,
        listening: Listening,
        listener: _Listener,
        is_live: Callable[[], Awaitable[bool]],
    ) -> AsyncGenerator[WatchMessage | Gap | None, None]:
        ends_at = asyncio.get_running_loop().time() + LONGEST_S
        after = listening.after
        forgotten = 0
        if after is None:
            after = await asyncio.to_thread(find_newest_message, self._store)
        else:
            watches = await asyncio.to_thread(self._watches, listening)
            forgotten = max((watch.forgotten for watch in watches), default=0)
        self._begin_looking(after)
        yield None
        if forgotten > after:
            yield Gap(forgotten_up_to=forgotten)
        while asyncio.get_running_loop().time() < ends_at and not self._stop.is_set():
            listener.wake.clear()
            messages = await asyncio.to_thread(self._read, listening, after)
            if messages is None:
                return
            for message in messages:
                after = message.id
                yield message
            if messages:
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(listener.wake.wait(), HEARTBEAT_S)
            if not listener.wake.is_set():
                if not await is_live():
                    return
                yield None

    def _watches(self, listening: Listening) -> list[Watch]:
        if listening.watch_id is None:
            return list_watches_of(self._store, [listening.key_id])
        found = find_watch(self._store, listening.watch_id)
        return [] if found is None else [found]

    def _read(self, listening: Listening, after: int) -> list[WatchMessage] | None:
        """Return the next messages, oldest first. None: the watch is deleted."""
        watches = self._watches(listening)
        if not watches and listening.watch_id is not None:
            return None
        parts = [
            list_after(self._store, watch.id, after=after, at_most=_READ_AT_ONCE)
            for watch in watches
        ]
        # If a watch has more messages than were read, later ones are left to the next read.
        whole_to = min((part[-1].id for part in parts if len(part) == _READ_AT_ONCE), default=None)
        messages = (message for part in parts for message in part)
        return sorted(
            (one for one in messages if whole_to is None or one.id <= whole_to),
            key=lambda one: one.id,
        )

    def _begin_looking(self, after: int) -> None:
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(after))

    async def _look(self, after: int) -> None:
        """Wake the streams with new messages, until none is open."""
        while self._listeners and not self._stop.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), _LOOK_EVERY_S)
            try:
                rows = await asyncio.to_thread(
                    list_new, self._store, after=after, at_most=_READ_AT_ONCE
                )
            except StoreError:
                continue  # the readers get the error; the next poll tries again
            for row in rows:
                after = row.id
                for listener in self._listeners:
                    if listener.hears(key_id=row.key_id, watch_id=row.watch_id):
                        listener.wake.set()
        for listener in self._listeners:
            listener.wake.set()
