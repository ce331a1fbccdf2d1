"""LRU cache of encoded answers, bounded in bytes and age; and deduplication of concurrent runs."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

import msgspec

Key = TypeVar("Key", bound=Hashable)
Cached = TypeVar("Cached")


_OVERHEAD_BYTES = 1_000
"""Memory of an entry beside its body, so that no number of tiny ones fills the memory."""

FixedHeaders = tuple[tuple[bytes, bytes], ...]


class CachedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One encoded response."""

    status: int
    body: bytes
    headers: FixedHeaders = ()
    """All headers that depend on the body alone, names in lower case."""
    tag: bytes | None = None
    """The opaque part of the ETag, quotes included. None: no ETag."""
    is_final: bool = True
    """False: a part is still pending; a later request will return more."""

    @property
    def held_bytes(self) -> int:
        """Return the memory it takes, in bytes."""
        return len(self.body) + _OVERHEAD_BYTES


class _Kept(msgspec.Struct, frozen=True):
    answer: CachedAnswer
    until_s: float


class AnswerCache(Generic[Key]):
    """LRU cache of answers in at most `max_bytes` of memory."""

    def __init__(self, *, max_bytes: int, now_s: Callable[[], float]):
        self._max_bytes = max_bytes
        self._now_s = now_s
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._bytes = 0

    @property
    def held_bytes(self) -> int:
        """Return the memory of all entries, in bytes."""
        return self._bytes

    def get(self, key: Key) -> CachedAnswer | None:
        """Return the answer, or None if it is absent or too old."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept.until_s <= self._now_s():
            self.drop(key)
            return None
        self._kept.move_to_end(key)
        return kept.answer

    def put(self, key: Key, answer: CachedAnswer, *, for_s: float) -> None:
        """Cache an answer for `for_s` seconds, evicting the least recently used ones until it
        fits."""
        self._put(key, _Kept(answer, self._now_s() + for_s))

    def put_beside(
        self, key: Key, answer: CachedAnswer, *, of: Key, made_from: CachedAnswer
    ) -> None:
        """Cache another encoding of a cached answer until that one expires; do nothing if it is
        gone."""
        kept = self._kept.get(of)
        if kept is not None and kept.answer is made_from:
            self._put(key, _Kept(answer, kept.until_s))

    def _put(self, key: Key, kept: _Kept) -> None:
        self.drop(key)
        self._kept[key] = kept
        self._bytes += kept.answer.held_bytes
        while self._bytes > self._max_bytes:
            self.drop(next(iter(self._kept)))

    def drop(self, key: Key) -> None:
        """Remove an answer, if it is cached."""
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._bytes -= kept.answer.held_bytes


class SharedRuns(Generic[Key, Cached]):
    """Deduplicates concurrent runs: callers with the same key await the same task."""

    def __init__(self) -> None:
        self._running: dict[Key, asyncio.Task[Cached]] = {}

    async def run(self, key: Key, start: Callable[[], Awaitable[Cached]]) -> Cached:
        """Return the result of the running task of the key, or of a new one.

        Cancelling a caller does not cancel the task; it goes on for the others, and for later
        callers.
        """
        task = self._running.get(key)
        if task is None:
            task = asyncio.ensure_future(_awaited(start))
            self._running[key] = task
            task.add_done_callback(lambda done: self._ended(key, done))
        return await asyncio.shield(task)

    def _ended(self, key: Key, task: asyncio.Task[Cached]) -> None:
        del self._running[key]
        if not task.cancelled():
            task.exception()  # retrieved, so asyncio does not warn when every caller has left

    async def aclose(self) -> None:
        """Cancel all running tasks and wait for their end."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _awaited(start: Callable[[], Awaitable[Cached]]) -> Cached:
    return await start()
