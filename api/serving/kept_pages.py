"""Answers behind the pages of token sub-resources, kept for visitors without a key."""

from collections.abc import Callable
from typing import Final

import msgspec
from cachetools import TTLCache

from analysis.replay.evidence_pack import PackFile
from api.formats.shape_building import Shape

_FRESH_S: Final = 60.0
"""A page of the same minute causes no new simulation."""

_KEPT_S: Final = 3600.0
"""An older answer is offered where no new one may be had: the budget is one of an hour."""

_MOST_BYTES: Final = 16_000_000

PageKey = tuple[str, str, str]
"""Path of the resource, slug of the chain, address in lower case."""

Found = Shape | PackFile
"""Answer of a resource."""


class KeptPage(msgspec.Struct, frozen=True, kw_only=True):
    """One kept answer."""

    found: Found
    age_s: float

    @property
    def is_fresh(self) -> bool:
        """True if it is of this minute."""
        return self.age_s <= _FRESH_S


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    found: Found
    made_at_s: float
    size: int


class KeptPages:
    """The last answers, within a bound of memory."""

    def __init__(self, monotonic_s: Callable[[], float]) -> None:
        self._now_s = monotonic_s
        self._entries = TTLCache[PageKey, _Entry](
            _MOST_BYTES, _KEPT_S, timer=monotonic_s, getsizeof=lambda entry: entry.size
        )

    def get(self, key: PageKey) -> KeptPage | None:
        """Return the last answer of the hour. None: there is none."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        return KeptPage(found=entry.found, age_s=self._now_s() - entry.made_at_s)

    def put(self, key: PageKey, found: Found) -> None:
        """Keep an answer; one too large for the memory is not kept."""
        size = len(found.body if isinstance(found, PackFile) else msgspec.json.encode(found))
        if size <= _MOST_BYTES:
            self._entries[key] = _Entry(found=found, made_at_s=self._now_s(), size=size)
