"""Write-behind cache of key usage: calls are counted in memory and flushed to the ledger.

A visit to the ledger writes the calls counted since the last one, and checks for keys changed by
other processes. A killed process loses at most the counts of its last `LOST_AT_MOST_S` seconds.
"""

import asyncio
import time
from collections.abc import Callable
from weakref import WeakValueDictionary

import msgspec
import structlog
from prometheus_client import Counter

from core.errors import StoreError
from sql.accounts.ledger import Calls, Ledger, Usage, utc_day
from sql.engine.database import UnknownOutcomeError

VISIT_EVERY_S = 0.4
"""Delay from a counted call to its flush."""

LOST_AT_MOST_S = 1.0
"""Bound on loss: a kill may lose the counts of the calls in its last second, and no others."""

HOLD_AFTER_S = 0.7
"""Age of an unwritten call from which new calls wait for its write; the rest of the second is for
that write. A ledger that cannot be written blocks all calls here."""

LOOK_EVERY_S = 1.0
"""Interval of reading changes by other processes while keys are in use."""

MOST_UNSEEN_S = 2.0
"""Time that cached keys are trusted after the last read of changes."""

_DAY_S = 86_400

_VISITS = Counter("assay_api_ledger_visits", "Visits to the ledger of keys and usage", ["result"])
_WRITTEN = Counter("assay_api_ledger_calls", "Counted calls written to the ledger")

_log = structlog.get_logger(__name__)


class UsageTally:
    """Counters of one key: the ledger's values at the last visit, plus the calls counted since."""

    __slots__ = (
        "__weakref__",
        "day",
        "day_calls",
        "in_turn",
        "key_id",
        "lifetime",
        "month_calls",
        "unwritten",
    )

    def __init__(self, key_id: int, usage: Usage, day: str):
        self.key_id = key_id
        self.unwritten = 0
        self.in_turn = asyncio.Lock()
        """Lock of a call that awaits between check and count."""
        self.see(usage, day)

    def see(self, usage: Usage, day: str) -> None:
        """Set the ledger's values of that day; unwritten calls are added."""
        self.day = day
        self.lifetime = usage.lifetime + self.unwritten
        self.day_calls = usage.day + self.unwritten
        self.month_calls = usage.month + self.unwritten


class _Unsure(msgspec.Struct, frozen=True, kw_only=True):
    """A write whose outcome is unknown."""

    error: UnknownOutcomeError
    batch: int
    """Counts in the write: the first ones of the next batch."""


class UsageCounters:
    """Tallies of all keys in use. For the event loop's thread only."""

    def __init__(self, ledger: Ledger, *, now_s: Callable[[], float]):
        self._ledger = ledger
        self._now_s = now_s
        self._tallies: WeakValueDictionary[int, UsageTally] = WeakValueDictionary()
        self._waiting: dict[UsageTally, None] = {}
        """Tallies with unwritten calls, in order; this reference keeps them alive."""
        self._former: list[Calls] = []
        """Unwritten calls of past days, and of failed visits."""
        self._unsure: _Unsure | None = None
        """Commit of unknown outcome that may have written the first of `_former`; nothing is
        flushed until it is resolved."""
        self._waiting_since: float | None = None
        self._writing_since: float | None = None
        self._visited_at = float("-inf")
        self._visit: asyncio.Task[None] | None = None
        self._next_visit: asyncio.TimerHandle | None = None
        self._day = ""
        self._day_from_s = self._day_to_s = 0.0

    async def tally(self, key_id: int) -> UsageTally:
        """Return the one tally of a key. Raises StoreError."""
        now_s = self._now_s()
        if key_id not in self._tallies:
            usage = await asyncio.to_thread(self._ledger.usage, key_id, now_s)
            if key_id not in self._tallies:  # no other task has created it in the meantime
                tally = self._tallies[key_id] = UsageTally(key_id, usage, utc_day(now_s))
                return tally
        return self._tallies[key_id]

    def turn_to(self, tally: UsageTally, now_s: float) -> None:
        """Reset the counts of day and month where a new one has begun."""
        if not self._day_from_s <= now_s < self._day_to_s:
            self._day = utc_day(now_s)
            self._day_from_s = now_s // _DAY_S * _DAY_S
            self._day_to_s = self._day_from_s + _DAY_S
        if tally.day == self._day:
            return
        if tally.unwritten:
            self._former.append(_calls(tally))
            tally.unwritten = 0
        if not self._day.startswith(tally.day[: len("YYYY-MM")]):
            tally.month_calls = 0
        tally.day_calls = 0
        tally.day = self._day

    def count(self, tally: UsageTally) -> None:
        """Count a call, to be written at the next visit."""
        tally.lifetime += 1
        tally.day_calls += 1
        tally.month_calls += 1
        tally.unwritten += 1
        if tally.unwritten == 1:
            self._waiting[tally] = None
            if self._waiting_since is None:
                self._waiting_since = time.monotonic()
                self._plan_visit()

    def is_late(self) -> bool:
        """True if a counted call has waited too long to be written."""
        since = self._waiting_since if self._writing_since is None else self._writing_since
        return since is not None and time.monotonic() - since > HOLD_AFTER_S

    async def catch_up(self) -> None:
        """Wait until no call is late. Raises StoreError when the ledger cannot be written.

        Calls counted during a slow visit are late at its end, and the next visit writes them.
        """
        while self.is_late():
            last_at = self._visited_at
            await self.visit()
            if self._visited_at == last_at and self.is_late():
                raise StoreError(path="ledger", reason="counted calls cannot be written")

    def are_keys_current(self) -> bool:
        """True if key changes were read recently; starts another visit when it is due."""
        unseen_s = time.monotonic() - self._visited_at
        if unseen_s > LOOK_EVERY_S:
            self._begin_visit()
        return unseen_s <= MOST_UNSEEN_S

    async def look(self) -> None:
        """Read changes of keys now. Raises StoreError when the ledger cannot be read.

        The result is as of the start of the visit, however long it took.
        """
        last_at = self._visited_at
        await self.visit()
        if self._visited_at == last_at:
            raise StoreError(path="ledger", reason="changes of keys cannot be read")

    async def visit(self) -> None:
        """Await the running visit, or start one; its failure shows in `is_late`."""
        await asyncio.shield(self._begin_visit())

    async def aclose(self) -> None:
        """Write all counted calls."""
        if self._visit is not None:
            await self._visit
        if self._waiting_since is not None:
            await self.visit()
        if self._next_visit is not None:
            self._next_visit.cancel()

    def _plan_visit(self) -> None:
        if self._next_visit is not None:
            self._next_visit.cancel()  # an unscheduled visit came before it
        loop = asyncio.get_running_loop()
        self._next_visit = loop.call_later(VISIT_EVERY_S, self._begin_visit)

    def _begin_visit(self) -> asyncio.Task[None]:
        if self._visit is None:
            self._visit = asyncio.get_running_loop().create_task(self._visit_ledger())
        return self._visit

    async def _visit_ledger(self) -> None:
        now_s, began_at = self._now_s(), time.monotonic()
        waiting, self._waiting = self._waiting, {}
        batch = self._former + [_calls(tally) for tally in waiting if tally.unwritten]
        for tally in waiting:
            tally.unwritten = 0
        self._former = []
        self._writing_since, self._waiting_since = self._waiting_since, None
        usages: dict[int, Usage] | None = None
        try:
            if self._unsure is not None:
                batch = await asyncio.to_thread(_without_written, batch, self._unsure)
                self._unsure = None
            usages = await asyncio.to_thread(self._look_and_write, batch, now_s)
        except StoreError as error:
            if isinstance(error, UnknownOutcomeError):
                self._unsure = _Unsure(error=error, batch=len(batch))
            _log.error("ledger unavailable", reason=str(error), unwritten=len(batch))
        finally:
            if usages is None:
                self._former = batch + self._former
                self._waiting = waiting | self._waiting
                self._waiting_since = self._writing_since or self._waiting_since
            self._writing_since = None
            self._visit = None
            if self._waiting_since is not None:
                self._plan_visit()
        _VISITS.labels("failed" if usages is None else "ok").inc()
        if usages is not None:
            _WRITTEN.inc(sum(calls.calls for calls in batch))
            self._visited_at = began_at
            self._take_over(usages, utc_day(now_s))

    def _look_and_write(self, batch: list[Calls], now_s: float) -> dict[int, Usage]:
        """Read the key revision, then write. The write is last: a failure after it would repeat
        it."""
        self._ledger.read_key_revision()
        return self._ledger.add_calls(batch, now_s) if batch else {}

    def _take_over(self, usages: dict[int, Usage], day: str) -> None:
        for key_id, usage in usages.items():
            tally = self._tallies.get(key_id)
            if tally is not None and tally.day == day:
                tally.see(usage, day)


def _without_written(batch: list[Calls], unsure: _Unsure) -> list[Calls]:
    """Return the unwritten counts of a batch. Raises StoreError if their state is still unknown."""
    was_committed = unsure.error.was_committed()
    if was_committed is None:
        raise StoreError(path="ledger", reason=unsure.error.reason)
    if not was_committed:
        return batch
    _WRITTEN.inc(sum(calls.calls for calls in batch[: unsure.batch]))
    return batch[unsure.batch :]


def _calls(tally: UsageTally) -> Calls:
    return Calls(key_id=tally.key_id, day=tally.day, calls=tally.unwritten)
