"""The four limit tiers and the lifetime of a trial key."""

import asyncio
import math
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from limits import RateLimitItem, RateLimitItemPerMinute, RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from api.errors import LifetimeSpentError, LimitedError
from api.keys import Caller
from config.plans import Plan
from sql.ledger import Ledger, Usage


class Limits:
    """Lets a call through and counts it, or refuses it and counts nothing.

    Windows are in memory and move; quotas are in the ledger, by calendar day and month in UTC.
    """

    def __init__(self, ledger: Ledger):
        self._ledger = ledger
        self._windows = MovingWindowRateLimiter(MemoryStorage())
        # Between looking and counting no other call may come in, or both would take the last one.
        self._lock = asyncio.Lock()

    async def admit(self, caller: Caller, *, now_s: float) -> None:
        """Raises LifetimeSpentError, which no waiting mends, before any LimitedError."""
        key_id, plan = caller.key.key_id, caller.plan
        async with self._lock:
            usage = await asyncio.to_thread(self._ledger.usage, key_id, now_s)
            if plan.lifetime is not None and usage.lifetime >= plan.lifetime:
                raise LifetimeSpentError(total=plan.lifetime)
            windows = _windows(plan)
            for window, name in windows:
                self._check_window(window, name, key_id)
            _check_quotas(plan, usage, now_s)
            for window, _ in windows:
                self._windows.hit(window, str(key_id))
            await asyncio.to_thread(self._ledger.count_call, key_id, now_s)

    def _check_window(self, window: RateLimitItem, name: str, key_id: int) -> None:
        if self._windows.test(window, str(key_id)):
            return
        stats = self._windows.get_window_stats(window, str(key_id))
        wait_s = max(0, math.floor(stats.reset_time - time.time())) + 1
        headers = {"Retry-After": str(wait_s), "X-RateLimit-Remaining": "0"}
        if name == "burst":
            headers["X-RateLimit-Burst-Limit"] = str(window.amount)
            headers["X-RateLimit-Burst-Window"] = str(window.get_expiry())
        else:
            headers["X-RateLimit-Limit"] = str(window.amount)
        detail = f"Limit of {window.amount} calls in {window.get_expiry()} seconds reached."
        raise LimitedError(detail=detail, headers=headers)


def _windows(plan: Plan) -> list[tuple[RateLimitItem, str]]:
    windows: list[tuple[RateLimitItem, str]] = []
    if plan.burst_limit is not None and plan.burst_window_s is not None:
        burst = RateLimitItemPerSecond(plan.burst_limit, plan.burst_window_s, "burst")
        windows.append((burst, "burst"))
    if plan.per_minute is not None:
        windows.append((RateLimitItemPerMinute(plan.per_minute, 1, "minute"), "minute"))
    return windows


def _check_quotas(plan: Plan, usage: Usage, now_s: float) -> None:
    if plan.per_day is not None and usage.day >= plan.per_day:
        wait_s = _until_tomorrow_s(now_s)
        headers = {"Retry-After": str(wait_s), **_quota_headers("Daily", plan.per_day, usage.day)}
        raise LimitedError(detail="Daily quota used up.", headers=headers)
    if plan.per_month is not None and usage.month >= plan.per_month:
        raise LimitedError(
            detail="Monthly quota used up.",
            headers=_quota_headers("Monthly", plan.per_month, usage.month),
        )


def _quota_headers(period: str, limit: int, used: int) -> Mapping[str, str]:
    return {f"X-Quota-{period}-Limit": str(limit), f"X-Quota-{period}-Used": str(used)}


def _until_tomorrow_s(now_s: float) -> int:
    """Whole seconds until the next day begins in UTC, at least one."""
    now = datetime.fromtimestamp(now_s, tz=UTC)
    midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
    return max(1, math.ceil((midnight - now).total_seconds()))
