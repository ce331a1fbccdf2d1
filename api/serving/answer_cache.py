"""LRU cache of encoded answers, bounded in bytes and age."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import msgspec

Key = TypeVar("Key", bound=Hashable)


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
