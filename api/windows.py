"""The windows of a plan: so many calls within any so many seconds, in memory or shared.

`limits` has the rules and the shared store. Its store in memory is not used: every call there
starts a thread that walks over all keys, and 6,000 calls a minute make a list of 6,000 objects.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Literal

import msgspec
import structlog
from limits import RateLimitItem, RateLimitItemPerMinute, RateLimitItemPerSecond
from limits.aio.storage import RedisStorage
from limits.aio.strategies import MovingWindowRateLimiter as SharedLimiter
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from redis.asyncio import BlockingConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from config.plans import Plan
from config.secret import Secret, mask_url

REDIS_PATIENCE_S = 0.25
"""A command of the shared store that takes longer has failed."""

_CONNECTIONS = 32

REDIS_PAUSE_S = 5.0
"""After a failure the shared store is left alone for so long."""

_log = structlog.get_logger(__name__)


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """One window of a plan."""

    kind: Literal["burst", "minute"]
    item: RateLimitItem


class Full(msgspec.Struct, frozen=True, kw_only=True):
    """A window without room for one more call."""

    window: Window
    retry_after_s: int
    """Whole seconds until there is room, at least one."""


def windows_of(plan: Plan) -> tuple[Window, ...]:
    """The windows of a plan, the shortest first."""
    windows = []
    if plan.burst_limit is not None and plan.burst_window_s is not None:
        burst = RateLimitItemPerSecond(plan.burst_limit, plan.burst_window_s, "burst")
        windows.append(Window(kind="burst", item=burst))
    if plan.per_minute is not None:
        minute = RateLimitItemPerMinute(plan.per_minute, 1, "minute")
        windows.append(Window(kind="minute", item=minute))
    return tuple(windows)


class CallTimes(MemoryStorage):
    """The storage of `limits` that keeps of each window the times of its calls, oldest first."""

    STORAGE_SCHEME = ["assay-memory"]  # noqa: RUF012 - as the base class has it

    _FIRST_SWEEP_AT = 1_000

    def __init__(self, now_s: Callable[[], float]) -> None:
        super().__init__()
        self._now_s = now_s
        self._times: dict[str, deque[float]] = {}
        self._expiries: dict[str, int] = {}
        self._sweep_at = self._FIRST_SWEEP_AT

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Place calls now, unless that would make more than `limit` in `expiry` seconds."""
        now_s = self._now_s()
        times = self._live(key, expiry, now_s)
        if len(times) + amount > limit:
            return False
        times.extend([now_s] * amount)
        self._expiries[key] = expiry
        if len(self._times) > self._sweep_at:
            self._sweep(now_s)
        return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """Time of the oldest call in the window, and the number of calls."""
        now_s = self._now_s()
        times = self._times.get(key)
        if times is None:
            return now_s, 0
        live = self._live(key, expiry, now_s)
        return (live[0], len(live)) if live else (now_s, 0)

    def _live(self, key: str, expiry: int, now_s: float) -> deque[float]:
        times = self._times.get(key)
        if times is None:
            times = self._times[key] = deque()
        start_s = now_s - expiry
        while times and times[0] < start_s:
            times.popleft()
        return times

    def _sweep(self, now_s: float) -> None:
        """Forget the windows in which nothing is left; costs little a call on average."""
        for key in [
            key for key, expiry in self._expiries.items() if not self._live(key, expiry, now_s)
        ]:
            del self._times[key], self._expiries[key]
        self._sweep_at = max(self._FIRST_SWEEP_AT, 2 * len(self._times))


class LocalWindows:
    """Windows of this process alone. Looking and taking do not wait: nobody comes in between."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic):
        self._now_s = now_s
        self._limiter = MovingWindowRateLimiter(CallTimes(now_s))

    def full_now(self, windows: Sequence[Window], key: str) -> Full | None:
        """The first window without room for one more call; takes none."""
        for window in windows:
            if not self._limiter.test(window.item, key):
                reset_s, _ = self._limiter.get_window_stats(window.item, key)
                return _full(window, reset_s - self._now_s())
        return None

    def take_now(self, windows: Sequence[Window], key: str) -> None:
        """Take room in every window, after `full_now` has said that there is some."""
        for window in windows:
            self._limiter.hit(window.item, key)

    async def full(self, windows: Sequence[Window], key: str) -> Full | None:
        """As `full_now`."""
        return self.full_now(windows, key)

    async def take(self, windows: Sequence[Window], key: str) -> Full | None:
        """As `take_now`."""
        self.take_now(windows, key)
        return None

    async def aclose(self) -> None:
        """Nothing is held."""


class SharedWindows:
    """Windows of all processes that name the same Redis or Valkey server.

    What is taken there is taken in memory too, so that with the server out of reach each process
    goes on with its own part of the truth: nobody is refused for our trouble, and nobody gets more
    than the plan's calls from each process.
    """

    def __init__(self, url: Secret, local: LocalWindows) -> None:
        self._address = mask_url(url.value)
        self._local = local
        self._pool = BlockingConnectionPool.from_url(
            url.value,
            max_connections=_CONNECTIONS,
            timeout=REDIS_PATIENCE_S,
            retry=Retry(NoBackoff(), 1),  # an idle connection may have been closed meanwhile
        )
        storage = RedisStorage(
            url.value,
            implementation="redispy",
            key_prefix="assay",
            connection_pool=self._pool,  # type: ignore[arg-type]  # documented, and left out there
        )
        self._limiter = SharedLimiter(storage)
        self._rests_until = float("-inf")

    async def full(self, windows: Sequence[Window], key: str) -> Full | None:
        """The first window without room for one more call; takes none."""

        async def look(window: Window) -> Full | None:
            if await self._limiter.test(window.item, key):
                return None
            reset_s, _ = await self._limiter.get_window_stats(window.item, key)
            return _full(window, reset_s - time.time())

        if not self._is_resting():
            async with self._within_patience():
                found = await asyncio.gather(*map(look, windows))
                return next(filter(None, found), None)
        return self._local.full_now(windows, key)

    async def take(self, windows: Sequence[Window], key: str) -> Full | None:
        """Take room in every window. The one that another process has just filled, if any."""
        self._local.take_now(windows, key)
        if not self._is_resting():
            async with self._within_patience():
                for window in windows:
                    if not await self._limiter.hit(window.item, key):
                        return _full(window, window.item.get_expiry())
        return None

    async def aclose(self) -> None:
        """Give the connections up."""
        await self._pool.aclose()

    def _is_resting(self) -> bool:
        return time.monotonic() < self._rests_until

    @asynccontextmanager
    async def _within_patience(self) -> AsyncIterator[None]:
        """Ends early, with a line in the log, when the server does not do its part."""
        try:
            async with asyncio.timeout(REDIS_PATIENCE_S):
                yield
        except (RedisError, OSError, TimeoutError) as error:
            if not self._is_resting():
                reason = str(error) or type(error).__name__
                _log.warning("windows not shared for now", server=self._address, reason=reason)
            self._rests_until = time.monotonic() + REDIS_PAUSE_S


def _full(window: Window, wait_s: float) -> Full:
    """A call at the very end of the window is still in it, hence the whole second more."""
    return Full(window=window, retry_after_s=max(0, math.floor(wait_s)) + 1)
