"""Feed of a chain for callers that keep a connection open.

Each stream reads the table at the pace of its connection and goes on from its last line, so a slow
reader misses nothing and needs no memory here. While streams of a chain have read everything, its
newest line is looked up four times a second for all of them.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Final

import msgspec
import structlog
from async_lru import alru_cache
from litestar.response import ServerSentEventMessage

from api.watches.event_feed import HEARTBEAT_S, LONGEST_S, StreamPlace
from api.watches.feed_shapes import FeedGap, FeedPage, FeedSnapshot, show_line, show_snapshot
from config.facts.chain import Chain
from core.errors import StoreError
from sql.chain.feed_tables import (
    StoredFeedLine,
    find_feed_gap,
    find_newest_line,
    list_lines,
    list_verdicts,
)
from sql.engine.store import Store

MOST_IN_SNAPSHOT: Final = 1_000
_LOOK_EVERY_S: Final = 0.25
_READ_AT_ONCE: Final = 200
_RETRY_MS: Final = 2_000

_log = structlog.get_logger(__name__)


class ChainFeed:
    """Feeds of the chains of a deployment."""

    def __init__(self, store: Store, *, stop: asyncio.Event | None = None) -> None:
        """`stop`: streams end when it is set, as a server waits for open connections."""
        self._store = store
        self._stop = stop or asyncio.Event()
        self._find_newest = alru_cache(ttl=_LOOK_EVERY_S)(self._find_newest_now)

    async def aclose(self) -> None:
        """End the streams."""
        self._stop.set()

    async def read_page(self, chain: Chain, *, after: int) -> FeedPage:
        """Return the next lines after a cursor. Raises StoreError."""
        lines, forgotten = await asyncio.to_thread(self._read, chain, after)
        last = lines[-1].sequence if lines else max(after, forgotten)
        return FeedPage(
            lines=tuple(show_line(chain.slug, line) for line in lines),
            gap=FeedGap(forgotten_up_to=forgotten) if forgotten > after else None,
            cursor=last,
        )

    async def read_snapshot(self, chain: Chain, *, after: int) -> FeedSnapshot:
        """Return the verdicts of the next tokens, with the cursor of that moment. Raises
        StoreError."""
        return await asyncio.to_thread(self._read_snapshot, chain, after)

    async def stream(
        self,
        chain: Chain,
        *,
        place: StreamPlace,
        after: int | None,
        is_live: Callable[[], Awaitable[bool]],
    ) -> AsyncIterator[ServerSentEventMessage]:
        """Yield the lines after a cursor as server-sent events; a comment while there are none.

        `after` None: lines from now on. Ends after `LONGEST_S`, when `is_live` returns False, when
        the service ends, and when the store cannot be read.
        """
        place.begin()
        retry_ms: int | None = _RETRY_MS  # sent once, with the first heartbeat
        try:
            async for line in self._follow(chain, after, is_live):
                if isinstance(line, StoredFeedLine):
                    body = msgspec.json.encode(show_line(chain.slug, line))
                    yield ServerSentEventMessage(id=line.sequence, event=line.kind, data=body)
                elif isinstance(line, FeedGap):
                    yield ServerSentEventMessage(event="gap", data=msgspec.json.encode(line))
                else:
                    yield ServerSentEventMessage(comment="nothing new", data=None, retry=retry_ms)
                    retry_ms = None
        except StoreError as error:
            _log.error("feed failed", chain=chain.slug, reason=str(error))
        finally:
            place.free()

    async def _follow(
        self, chain: Chain, after: int | None, is_live: Callable[[], Awaitable[bool]]
    ) -> AsyncGenerator[StoredFeedLine | FeedGap | None, None]:
        now_s = asyncio.get_running_loop().time
        ends_at, beats_at = now_s() + LONGEST_S, now_s() + HEARTBEAT_S
        at = await self._find_newest_now(chain.id) if after is None else after
        read_up_to: int | None = None
        yield None
        while now_s() < ends_at and not self._stop.is_set():
            newest = await self._find_newest(chain.id)
            if newest != read_up_to:
                lines, forgotten = await asyncio.to_thread(self._read, chain, at)
                if forgotten > at:
                    at = forgotten
                    yield FeedGap(forgotten_up_to=forgotten)
                for line in lines:
                    at = line.sequence
                    yield line
                if lines:
                    beats_at = now_s() + HEARTBEAT_S
                    continue
                read_up_to = newest
            if now_s() >= beats_at:
                beats_at = now_s() + HEARTBEAT_S
                if not await is_live():
                    return
                yield None
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), _LOOK_EVERY_S)

    async def _find_newest_now(self, chain_id: int) -> int:
        return await asyncio.to_thread(find_newest_line, self._store, chain_id=chain_id)

    def _read(self, chain: Chain, after: int) -> tuple[list[StoredFeedLine], int]:
        """Return the next lines, and the last deleted one: read after them, so none is missed."""
        lines = list_lines(self._store, chain_id=chain.id, after=after, at_most=_READ_AT_ONCE)
        return lines, find_feed_gap(self._store, chain_id=chain.id)

    def _read_snapshot(self, chain: Chain, after: int) -> FeedSnapshot:
        with self._store.snapshot() as reader:
            tokens = list_verdicts(reader, chain_id=chain.id, after=after, at_most=MOST_IN_SNAPSHOT)
            cursor = find_newest_line(reader, chain_id=chain.id)
        return show_snapshot(chain.slug, tokens, cursor=cursor, at_most=MOST_IN_SNAPSHOT)
