"""Moving rate windows: a limit of calls within any span of seconds, in memory or shared via Redis.

The shared windows use the `limits` library, but not its in-memory store: each call there starts a
thread that scans all keys, and even without it the strategies take 6 us of a call that takes 35.
Tests compare both implementations.
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
from prometheus_client import Counter
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from config.plans import Plan
from core.process.secret import Secret, mask_url

REDIS_PATIENCE_S = 0.5
"""Timeout of a command to the shared store."""

REDIS_PAUSE_S = 5.0
"""Pause after a failure of the shared store, in which it is not used."""

_CONNECTIONS = 32
_MINUTE_S = 60
_SWEEP_EVERY_S = 60.0

_log = structlog.get_logger(__name__)

_FAILURES = Counter(
    "assay_api_window_failures",
    "Failures of the server that shares rate-limit windows; for some seconds after each this "
    "process goes by its own counts",
)


WindowKind = Literal["burst", "minute", "hour"]


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """One rate window: of a plan, or of people without a key."""

    kind: WindowKind
    limit: int
    """Calls within any `span_s` seconds."""
    span_s: int

    @property
    def item(self) -> RateLimitItem:
        """Return the window as a type of `limits`."""
        return RateLimitItemPerSecond(self.limit, self.span_s, self.kind)


class WindowUse(msgspec.Struct, frozen=True, kw_only=True):
    """Usage of one window by a key."""

    window: Window
    used: int
    frees_in_s: int | None
    """Seconds until the oldest call leaves the window. None: there is none."""


_Times = tuple[Window, deque[float]]
"""A window of one key, with the times of the calls in it, oldest first."""


class WindowExceeded(msgspec.Struct, frozen=True, kw_only=True):
    """A window without room for one more call."""

    window: Window
    retry_after_s: int
    """Whole seconds until there is room, at least one."""


def windows_of(plan: Plan) -> tuple[Window, ...]:
    """Return the windows of a plan, the shortest first."""
    windows = []
    if plan.burst_limit is not None and plan.burst_window_s is not None:
        windows.append(Window(kind="burst", limit=plan.burst_limit, span_s=plan.burst_window_s))
    if plan.per_minute is not None:
        windows.append(Window(kind="minute", limit=plan.per_minute, span_s=_MINUTE_S))
    return tuple(windows)


class LocalWindows:
    """Windows of this process alone. Check and count do not await, so no other call interleaves."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic):
        self._now_s = now_s
        self._windows: dict[str, tuple[_Times, ...]] = {}
        self._sweep_at_s = now_s() + _SWEEP_EVERY_S

    def full_now(self, windows: Sequence[Window], key: str) -> WindowExceeded | None:
        """Return the first window without room for one more call; count nothing."""
        now_s = self._now_s()
        for window, times in self._windows.get(key) or self._begin(windows, key):
            while times and times[0] < now_s - window.span_s:
                times.popleft()
            if len(times) >= window.limit:
                return _full(window, times[0] + window.span_s - now_s)
        return None

    def take_now(self, windows: Sequence[Window], key: str) -> None:
        """Count a call in every window, after `full_now` has found room."""
        now_s = self._now_s()
        for _, times in self._windows.get(key) or self._begin(windows, key):
            times.append(now_s)
        if now_s >= self._sweep_at_s:
            self._sweep(now_s)

    def look_now(self, windows: Sequence[Window], key: str) -> list[WindowUse]:
        """Return the usage of every window; count nothing."""
        now_s = self._now_s()
        found = self._windows.get(key) or tuple((window, deque[float]()) for window in windows)
        uses = []
        for window, times in found:
            inside = [time_s for time_s in times if time_s >= now_s - window.span_s]
            wait_s = _retry_after_s(inside[0] + window.span_s - now_s) if inside else None
            uses.append(WindowUse(window=window, used=len(inside), frees_in_s=wait_s))
        return uses

    def _begin(self, windows: Sequence[Window], key: str) -> tuple[_Times, ...]:
        # Only the newest `limit` calls can matter, so memory is bounded by them.
        windows_of_key = tuple((window, deque[float](maxlen=window.limit)) for window in windows)
        if windows_of_key:
            self._windows[key] = windows_of_key
        return windows_of_key

    async def full(self, windows: Sequence[Window], key: str) -> WindowExceeded | None:
        """Return as `full_now`."""
        return self.full_now(windows, key)

    async def take(self, windows: Sequence[Window], key: str) -> WindowExceeded | None:
        """Count as `take_now`."""
        self.take_now(windows, key)
        return None

    async def look(self, windows: Sequence[Window], key: str) -> list[WindowUse]:
        """Return as `look_now`."""
        return self.look_now(windows, key)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""

    def _sweep(self, now_s: float) -> None:
        """Delete keys whose last call has left every window."""

        def is_in_use(windows_of_key: tuple[_Times, ...]) -> bool:
            return any(
                times and times[-1] >= now_s - window.span_s for window, times in windows_of_key
            )

        self._windows = {
            key: windows_of_key
            for key, windows_of_key in self._windows.items()
            if is_in_use(windows_of_key)
        }
        self._sweep_at_s = now_s + _SWEEP_EVERY_S


class SharedWindows:
    """Windows shared by all processes that use the same Redis or Valkey server.

    Calls are also counted in memory, so that while the server is unreachable each process applies
    its own counts: no caller is refused because of the outage, and none gets more than the plan's
    calls from each process.
    """

    def __init__(self, url: Secret, local: LocalWindows) -> None:
        self._address = mask_url(url.value)
        self._local = local
        self._pool = BlockingConnectionPool.from_url(
            url.value,
            max_connections=_CONNECTIONS,
            timeout=REDIS_PATIENCE_S,
            retry=Retry(NoBackoff(), 1),  # an idle connection may have been closed in the meantime
        )
        storage = RedisStorage(
            url.value,
            implementation="redispy",
            key_prefix="assay",
            connection_pool=self._pool,  # type: ignore[arg-type]  # documented, and left out there
        )
        self._limiter = MovingWindowRateLimiter(storage)
        self._rests_until = float("-inf")
        self._background = set[asyncio.Task[object]]()

    async def full(self, windows: Sequence[Window], key: str) -> WindowExceeded | None:
        """Return the first window without room for one more call; count nothing."""

        async def look(window: Window) -> WindowExceeded | None:
            if await self._limiter.test(window.item, key):
                return None
            reset_s, _ = await self._limiter.get_window_stats(window.item, key)
            return _full(window, reset_s - time.time())

        if not self.is_resting():
            async with self._within_patience():
                found = await asyncio.gather(*map(look, windows))
                return next(filter(None, found), None)
        return self._local.full_now(windows, key)

    async def take(self, windows: Sequence[Window], key: str) -> WindowExceeded | None:
        """Count a call in every window. Return the one that another process has just filled, if
        any."""
        self._local.take_now(windows, key)
        if not self.is_resting():
            async with self._within_patience():
                for window in windows:
                    if not await self._limiter.hit(window.item, key):
                        return _full(window, window.span_s)
        return None

    async def look(self, windows: Sequence[Window], key: str) -> list[WindowUse]:
        """Return the usage of every window, by all processes; count nothing."""

        async def look_at(window: Window) -> WindowUse:
            reset_s, left = await self._limiter.get_window_stats(window.item, key)
            used = window.limit - left
            wait_s = _retry_after_s(reset_s - time.time()) if used else None
            return WindowUse(window=window, used=used, frees_in_s=wait_s)

        if not self.is_resting():
            async with self._within_patience():
                return list(await asyncio.gather(*map(look_at, windows)))
        return self._local.look_now(windows, key)

    async def run(self, script: str, *, keys: Sequence[str], arguments: Sequence[str]) -> object:
        """Return the answer of a Lua script, texts as bytes. None: the server is unreachable, or
        the answer is nil."""
        if not self.is_resting():
            async with self._within_patience():
                server = Redis(connection_pool=self._pool)
                answer: object = await server.eval(script, len(keys), *keys, *arguments)
                return answer
        return None

    def run_soon(self, script: str, *, keys: Sequence[str], arguments: Sequence[str]) -> None:
        """Run a Lua script in the background; `aclose` waits for it."""
        work = self.run(script, keys=keys, arguments=arguments)
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def is_resting(self) -> bool:
        """Return whether the server failed a moment ago, so each process goes by its own counts."""
        return time.monotonic() < self._rests_until

    async def aclose(self) -> None:
        """Close the connections."""
        await asyncio.gather(*self._background, return_exceptions=True)
        await self._pool.aclose()

    @asynccontextmanager
    async def _within_patience(self) -> AsyncIterator[None]:
        """Run the block with a timeout; log a failure of the server and pause its use."""
        try:
            async with asyncio.timeout(REDIS_PATIENCE_S):
                yield
        except (RedisError, OSError, TimeoutError) as error:
            if not self.is_resting():
                reason = str(error) or type(error).__name__
                _log.warning("shared rate windows unavailable", server=self._address, reason=reason)
            _FAILURES.inc()
            self._rests_until = time.monotonic() + REDIS_PAUSE_S


def _full(window: Window, wait_s: float) -> WindowExceeded:
    return WindowExceeded(window=window, retry_after_s=_retry_after_s(wait_s))


def _retry_after_s(wait_s: float) -> int:
    """Return whole seconds to wait, plus one: a call at the very end of the window is still in
    it."""
    return max(0, math.floor(wait_s)) + 1
