"""The windows of a plan: so many calls within any so many seconds, in memory or shared.

Shared ones are those of `limits` in Redis. Its store in memory is not used: each call there starts
a thread that walks over all keys, and even without that its strategies take 6 us of a call that
takes 35. The rule is the same, and the tests hold ours to that of `limits`.
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
from limits import RateLimitItem, RateLimitItemPerSecond
from limits.aio.storage import RedisStorage
from limits.aio.strategies import MovingWindowRateLimiter
from redis.asyncio import BlockingConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from config.plans import Plan
from config.secret import Secret, mask_url

REDIS_PATIENCE_S = 0.5
"""A command of the shared store that takes longer has failed."""

REDIS_PAUSE_S = 5.0
"""After a failure the shared store is left alone for so long."""

_CONNECTIONS = 32
_MINUTE_S = 60
_SWEEP_EVERY_S = 60.0

_log = structlog.get_logger(__name__)


WindowKind = Literal["burst", "minute"]


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """One window of a plan."""

    kind: WindowKind
    limit: int
    """Calls within any `span_s` seconds."""
    span_s: int

    @property
    def item(self) -> RateLimitItem:
        """As `limits` has it."""
        return RateLimitItemPerSecond(self.limit, self.span_s, self.kind)


class WindowUse(msgspec.Struct, frozen=True, kw_only=True):
    """What a key has used of one window."""

    window: Window
    used: int
    frees_in_s: int | None
    """Seconds until the oldest call leaves. None: there is none."""


_Times = tuple[Window, deque[float]]
"""A window of one key, and when the calls in it were made, oldest first."""


class WindowExceeded(msgspec.Struct, frozen=True, kw_only=True):
    """A window without room for one more call."""

    window: Window
    retry_after_s: int
    """Whole seconds until there is room, at least one."""


def windows_of(plan: Plan) -> tuple[Window, ...]:
    """The windows of a plan, the shortest first."""
    windows = []
    if plan.burst_limit is not None and plan.burst_window_s is not None:
        windows.append(Window(kind="burst", limit=plan.burst_limit, span_s=plan.burst_window_s))
    if plan.per_minute is not None:
        windows.append(Window(kind="minute", limit=plan.per_minute, span_s=_MINUTE_S))
    return tuple(windows)


class LocalWindows:
    """Windows of this process alone. Looking and taking do not wait: nobody comes in between."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic):
        self._now_s = now_s
        self._held: dict[str, tuple[_Times, ...]] = {}
        self._sweep_at_s = now_s() + _SWEEP_EVERY_S

    def full_now(self, windows: Sequence[Window], key: str) -> WindowExceeded | None:
        """The first window without room for one more call; takes none."""
        now_s = self._now_s()
        for window, times in self._held.get(key) or self._begin(windows, key):
            while times and times[0] < now_s - window.span_s:
                times.popleft()
            if len(times) >= window.limit:
                return _full(window, times[0] + window.span_s - now_s)
        return None

    def take_now(self, windows: Sequence[Window], key: str) -> None:
        """Take room in every window, after `full_now` has said that there is some."""
        now_s = self._now_s()
        for _, times in self._held.get(key) or self._begin(windows, key):
            times.append(now_s)
        if now_s >= self._sweep_at_s:
            self._sweep(now_s)

    def look_now(self, windows: Sequence[Window], key: str) -> list[WindowUse]:
        """What is used of every window; takes nothing."""
        now_s = self._now_s()
        found = self._held.get(key) or tuple((window, deque[float]()) for window in windows)
        uses = []
        for window, times in found:
            inside = [time_s for time_s in times if time_s >= now_s - window.span_s]
            wait_s = _retry_after_s(inside[0] + window.span_s - now_s) if inside else None
            uses.append(WindowUse(window=window, used=len(inside), frees_in_s=wait_s))
        return uses

    def _begin(self, windows: Sequence[Window], key: str) -> tuple[_Times, ...]:
        # More than the limit's newest calls never matter, whether anybody looks or not.
        held = tuple((window, deque[float](maxlen=window.limit)) for window in windows)
        if held:
            self._held[key] = held
        return held

    async def full(self, windows: Sequence[Window], key: str) -> WindowExceeded | None:
        """As `full_now`."""
        return self.full_now(windows, key)

    async def take(self, windows: Sequence[Window], key: str) -> WindowExceeded | None:
        """As `take_now`."""
        self.take_now(windows, key)
        return None

    async def look(self, windows: Sequence[Window], key: str) -> list[WindowUse]:
        """As `look_now`."""
        return self.look_now(windows, key)

    async def aclose(self) -> None:
        """Nothing is held."""

    def _sweep(self, now_s: float) -> None:
        """Forget keys whose last call has left every window."""

        def is_in_use(held: tuple[_Times, ...]) -> bool:
            return any(times and times[-1] >= now_s - window.span_s for window, times in held)

        self._held = {key: held for key, held in self._held.items() if is_in_use(held)}
        self._sweep_at_s = now_s + _SWEEP_EVERY_S


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
        self._limiter = MovingWindowRateLimiter(storage)
        self._rests_until = float("-inf")

    async def full(self, windows: Sequence[Window], key: str) -> WindowExceeded | None:
        """The first window without room for one more call; takes none."""

        async def look(window: Window) -> WindowExceeded | None:
            if await self._limiter.test(window.item, key):
                return None
            reset_s, _ = await self._limiter.get_window_stats(window.item, key)
            return _full(window, reset_s - time.time())

        if not self._is_resting():
            async with self._within_patience():
                found = await asyncio.gather(*map(look, windows))
                return next(filter(None, found), None)
        return self._local.full_now(windows, key)

    async def take(self, windows: Sequence[Window], key: str) -> WindowExceeded | None:
        """Take room in every window. The one that another process has just filled, if any."""
        self._local.take_now(windows, key)
        if not self._is_resting():
            async with self._within_patience():
                for window in windows:
                    if not await self._limiter.hit(window.item, key):
                        return _full(window, window.span_s)
        return None

    async def look(self, windows: Sequence[Window], key: str) -> list[WindowUse]:
        """What is used of every window, by all processes; takes nothing."""

        async def look_at(window: Window) -> WindowUse:
            reset_s, left = await self._limiter.get_window_stats(window.item, key)
            used = window.limit - left
            wait_s = _retry_after_s(reset_s - time.time()) if used else None
            return WindowUse(window=window, used=used, frees_in_s=wait_s)

        if not self._is_resting():
            async with self._within_patience():
                return list(await asyncio.gather(*map(look_at, windows)))
        return self._local.look_now(windows, key)

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


def _full(window: Window, wait_s: float) -> WindowExceeded:
    return WindowExceeded(window=window, retry_after_s=_retry_after_s(wait_s))


def _retry_after_s(wait_s: float) -> int:
    """A call at the very end of the window is still in it, hence the whole second more."""
    return max(0, math.floor(wait_s)) + 1
