"""The four limit tiers and the lifetime of a trial key."""

import asyncio
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from api.auth.keys import Caller
from api.auth.rate_windows import LocalWindows, SharedWindows, WindowExceeded, WindowUse
from api.auth.usage_counters import UsageCounters, UsageTally
from api.error_answers import LifetimeSpentError, LimitedError
from config.plans import Plan
from sql.ledger import Ledger, Usage, utc_day


class KeyLimits:
    """Lets a call through and counts it, or refuses it and counts nothing.

    Windows move, and are in memory or shared. Quotas are by calendar day and month in UTC, known
    from the ledger; what other processes count on it is seen at the next visit. A plan with a
    lifetime is counted in the ledger itself before its call is let through.
    """

    def __init__(
        self,
        ledger: Ledger,
        books: UsageCounters,
        windows: LocalWindows | SharedWindows,
        *,
        now_s: Callable[[], float],
    ):
        self._ledger = ledger
        self._books = books
        self._windows = windows
        self._now_s = now_s

    async def admit(self, caller: Caller) -> None:
        """Raises LifetimeSpentError, which no waiting mends, before any LimitedError.

        Raises StoreError when the ledger can neither be asked nor told.
        """
        if self._books.is_late():
            await self._books.catch_up()
        windows = self._windows
        if caller.plan.lifetime is None and isinstance(windows, LocalWindows):
            # Nothing waits between looking and counting, so no other call comes in between.
            now_s, tally = self._now_s(), caller.tally
            self._books.turn_to(tally, now_s)
            _refuse_if_full(windows.full_now(caller.windows, caller.key.digest))
            _check_quotas(caller.plan, tally, now_s)
            windows.take_now(caller.windows, caller.key.digest)
            self._books.count(tally)
        else:
            async with caller.tally.in_turn:
                await self._admit_in_turn(caller)

    async def look(self, caller: Caller) -> tuple[Usage, list[WindowUse]]:
        """What the key has used, as far as this process and the ledger know. Counts nothing.

        Raises StoreError when the ledger cannot be read.
        """
        tally, now_s = caller.tally, self._now_s()
        written = await asyncio.to_thread(self._ledger.usage, tally.key_id, now_s)
        self._books.turn_to(tally, now_s)
        used = Usage(
            lifetime=max(written.lifetime, tally.lifetime),
            day=max(written.day, tally.day_calls),
            month=max(written.month, tally.month_calls),
        )
        return used, await self._windows.look(caller.windows, caller.key.digest)

    async def aclose(self) -> None:
        """Write what was counted; give connections up."""
        await self._books.aclose()
        await self._windows.aclose()

    async def _admit_in_turn(self, caller: Caller) -> None:
        plan, tally, digest = caller.plan, caller.tally, caller.key.digest
        now_s = self._now_s()
        self._books.turn_to(tally, now_s)
        _check_lifetime(plan, tally)
        _refuse_if_full(await self._windows.full(caller.windows, digest))
        _check_quotas(plan, tally, now_s)
        _refuse_if_full(await self._windows.take(caller.windows, digest))
        if plan.lifetime is None:
            self._books.count(tally)
            return
        spent = await asyncio.to_thread(self._ledger.spend, tally.key_id, plan, now_s)
        tally.see(spent.usage, utc_day(now_s))
        if not spent.is_counted:  # by another process, a moment ago
            _check_lifetime(plan, tally)
            _check_quotas(plan, tally, now_s)


def _check_lifetime(plan: Plan, tally: UsageTally) -> None:
    if plan.lifetime is not None and tally.lifetime >= plan.lifetime:
        raise LifetimeSpentError(total=plan.lifetime)


def _refuse_if_full(full: WindowExceeded | None) -> None:
    if full is None:
        return
    window = full.window
    headers = {"Retry-After": str(full.retry_after_s), "X-RateLimit-Remaining": "0"}
    if window.kind == "burst":
        headers["X-RateLimit-Burst-Limit"] = str(window.limit)
        headers["X-RateLimit-Burst-Window"] = str(window.span_s)
    else:
        headers["X-RateLimit-Limit"] = str(window.limit)
    detail = f"Limit of {window.limit} calls in {window.span_s} seconds reached."
    raise LimitedError(detail=detail, headers=headers)


def _check_quotas(plan: Plan, tally: UsageTally, now_s: float) -> None:
    if plan.per_day is not None and tally.day_calls >= plan.per_day:
        headers = _quota_headers("Daily", plan.per_day, tally.day_calls)
        wait_s = _until_tomorrow_s(now_s)
        raise LimitedError(
            detail="Daily quota used up.", headers={"Retry-After": str(wait_s), **headers}
        )
    if plan.per_month is not None and tally.month_calls >= plan.per_month:
        raise LimitedError(
            detail="Monthly quota used up.",
            headers=_quota_headers("Monthly", plan.per_month, tally.month_calls),
        )


def _quota_headers(period: str, limit: int, used: int) -> Mapping[str, str]:
    return {f"X-Quota-{period}-Limit": str(limit), f"X-Quota-{period}-Used": str(used)}


def _until_tomorrow_s(now_s: float) -> int:
    """Whole seconds until the next day begins in UTC, at least one."""
    now = datetime.fromtimestamp(now_s, tz=UTC)
    midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
    return max(1, math.ceil((midnight - now).total_seconds()))
