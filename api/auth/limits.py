"""Admission of calls: rate windows, calendar quotas, and the lifetime quota of trial keys."""

import asyncio
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from api.auth.keys import Caller
from api.auth.rate_windows import LocalWindows, SharedWindows, WindowExceeded, WindowUse
from api.auth.usage_counters import UsageCounters, UsageTally
from api.error_answers import LifetimeSpentError, LimitedError
from config.plans import Plan
from sql.accounts.ledger import Ledger, Usage, utc_day


class KeyLimits:
    """Admits a call and counts it, or refuses it and counts nothing.

    Rate windows are moving, in memory or shared. Quotas are per calendar day and month in UTC, from
    the ledger; counts by other processes are seen at the next flush. A plan with a lifetime quota
    is counted in the ledger itself before its call is admitted.
    """

    def __init__(
        self,
        ledger: Ledger,
        usage_counters: UsageCounters,
        windows: LocalWindows | SharedWindows,
        *,
        now_s: Callable[[], float],
    ):
        self._ledger = ledger
        self._usage_counters = usage_counters
        self._windows = windows
        self._now_s = now_s

    async def admit(self, caller: Caller) -> None:
        """Count the call. Raises LifetimeSpentError, which is permanent, before any LimitedError.

        Raises StoreError when the ledger can neither be read nor written.
        """
        if self._usage_counters.is_late():
            await self._usage_counters.catch_up()
        windows = self._windows
        if caller.plan.lifetime is None and isinstance(windows, LocalWindows):
            # No await between check and count, so no other call runs in between.
            now_s, tally = self._now_s(), caller.tally
            self._usage_counters.turn_to(tally, now_s)
            _refuse_if_full(windows.full_now(caller.windows, caller.key.digest))
            _check_quotas(caller.plan, tally, now_s)
            windows.take_now(caller.windows, caller.key.digest)
            self._usage_counters.count(tally)
        else:
            async with caller.tally.in_turn:
                await self._admit_in_turn(caller)

    async def look(self, caller: Caller) -> tuple[Usage, list[WindowUse]]:
        """Return the usage of the key, as known to this process and the ledger. Counts nothing.

        Raises StoreError when the ledger cannot be read.
        """
        tally, now_s = caller.tally, self._now_s()
        written = await asyncio.to_thread(self._ledger.usage, tally.key_id, now_s)
        self._usage_counters.turn_to(tally, now_s)
        used = Usage(
            lifetime=max(written.lifetime, tally.lifetime),
            day=max(written.day, tally.day_calls),
            month=max(written.month, tally.month_calls),
        )
        return used, await self._windows.look(caller.windows, caller.key.digest)

    async def aclose(self) -> None:
        """Flush the usage counters and close connections."""
        await self._usage_counters.aclose()
        await self._windows.aclose()

    async def _admit_in_turn(self, caller: Caller) -> None:
        plan, tally, digest = caller.plan, caller.tally, caller.key.digest
        now_s = self._now_s()
        self._usage_counters.turn_to(tally, now_s)
        _check_lifetime(plan, tally)
        _refuse_if_full(await self._windows.full(caller.windows, digest))
        _check_quotas(plan, tally, now_s)
        _refuse_if_full(await self._windows.take(caller.windows, digest))
        if plan.lifetime is None:
            self._usage_counters.count(tally)
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
    """Return the whole seconds until the next UTC day, at least one."""
    now = datetime.fromtimestamp(now_s, tz=UTC)
    midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
    return max(1, math.ceil((midnight - now).total_seconds()))
