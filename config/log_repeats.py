"""Counting of equal log events: one that comes again within a minute is counted, not repeated."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator

import msgspec
import structlog
from structlog.typing import EventDict, Processor

WINDOW_S = 60.0
MOST_KEPT = 1_000

_Key = tuple[tuple[str, str], ...]


class _Shown(msgspec.Struct, kw_only=True):
    """An event that was shown, and how often it has come since."""

    event: EventDict
    until_s: float
    """Monotonic time up to which equal events are counted."""
    count: int = 0


class RepeatCounter:
    """Renders events as the last processor of a chain.

    Events are equal if all of them but the time is. The first is shown; those of the next
    `WINDOW_S` seconds are counted, and shown as one event with `repeated`, their number, as soon as
    another event comes after that time. Of different events the last `MOST_KEPT` are compared.
    """

    def __init__(self, render: Processor, *, monotonic_s: Callable[[], float] = time.monotonic):
        self._render = render
        self._monotonic_s = monotonic_s
        self._shown: OrderedDict[_Key, _Shown] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, logger: object, method: str, event: EventDict) -> str:
        """Return the lines to print. Raises DropEvent where there are none."""
        with self._lock:
            lines = [*self._ended(), *self._added(event)]
        if not lines:
            raise structlog.DropEvent
        return "\n".join(self._rendered(each) for each in lines)

    def drain(self) -> list[str]:
        """Return the lines of all that was counted and not shown, and forget it."""
        with self._lock:
            rest = [_summed(shown) for shown in self._shown.values() if shown.count]
            self._shown.clear()
        return [self._rendered(event) for event in rest]

    def _rendered(self, event: EventDict) -> str:
        return str(self._render(None, "", {**event}))

    def _added(self, event: EventDict) -> Iterator[EventDict]:
        key = tuple(sorted((name, repr(event[name])) for name in event if name != "timestamp"))
        known = self._shown.get(key)
        if known is not None:
            known.count += 1
            known.event = event
            return
        if len(self._shown) >= MOST_KEPT:
            _, oldest = self._shown.popitem(last=False)
            if oldest.count:
                yield _summed(oldest)
        self._shown[key] = _Shown(event=event, until_s=self._monotonic_s() + WINDOW_S)
        yield event

    def _ended(self) -> Iterator[EventDict]:
        """Forget the events whose time has ended; the oldest stand first."""
        now_s = self._monotonic_s()
        while self._shown and next(iter(self._shown.values())).until_s <= now_s:
            _, shown = self._shown.popitem(last=False)
            if shown.count:
                yield _summed(shown)


def _summed(shown: _Shown) -> EventDict:
    return {**shown.event, "repeated": shown.count}
