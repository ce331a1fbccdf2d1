"""HTTP client of one external service, with rate limit, time-out, circuit breaker and cache.

Equal requests share one answer for `cache_s` seconds. Answers above 8 MiB are errors.
"""

import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

import aiohttp
import msgspec
from aiolimiter import AsyncLimiter
from async_lru import alru_cache

from core.errors import UpstreamError

T = TypeVar("T")

_MOST_BYTES = 8 * 2**20
_MOST_CACHED = 2_048
_FAILURES_TO_OPEN = 5
_OPEN_S = 30.0
_BURST_S = 10.0
_OK, _NOT_FOUND = 200, 404


class HttpService:
    """A service with a base address. Use one instance per service: the limits apply to it."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        name: str,
        url: str,
        *,
        per_minute: int,
        timeout_s: float,
        cache_s: float,
    ) -> None:
        self._session = session
        self._name = name
        self._base = url.rstrip("/")
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        # A sixth of the minute's allowance per ten seconds: a burst must not use up the minute.
        self._limiter = AsyncLimiter(max(1.0, per_minute * _BURST_S / 60), _BURST_S)
        self._breaker = CircuitBreaker(failures=_FAILURES_TO_OPEN, open_s=_OPEN_S)
        self._cached = alru_cache(maxsize=_MOST_CACHED, ttl=cache_s)(self._fetch)

    async def get(
        self, path: str, shape: type[T], *, refresh: bool = False, **query: str
    ) -> T | None:
        """Return the JSON at `path`. None: HTTP status 404.

        `refresh`: send the request even if an answer is cached. Raises UpstreamError for a
        time-out, a refused connection, another status or shape, an exhausted rate limit, or an open
        circuit breaker.
        """
        request: tuple[Any, ...] = (path, shape, tuple(sorted(query.items())))
        if refresh:
            self._cached.cache_invalidate(*request)
        return cast(T | None, await self._cached(*request))

    async def _fetch(self, path: str, shape: Any, query: tuple[tuple[str, str], ...]) -> object:
        if not self._limiter.has_capacity():
            raise UpstreamError(service=self._name, reason="our limit for it is reached")
        await self._limiter.acquire()
        if self._breaker.is_open:
            raise UpstreamError(service=self._name, reason="left alone for a while after failures")
        try:
            body = await self._read(path, query)
            found = None if body is None else msgspec.json.decode(body, type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._failed(reason=f"answered in another shape: {error}") from None
        except (aiohttp.ClientError, TimeoutError) as error:
            # The text of an error can hold the address, and with it a key.
            raise self._failed(reason=type(error).__name__) from None
        self._breaker.note_success()
        return found

    def _failed(self, *, reason: str) -> UpstreamError:
        """Count a failure of the service, and return it as an error."""
        self._breaker.note_failure()
        return UpstreamError(service=self._name, reason=reason)

    async def _read(self, path: str, query: tuple[tuple[str, str], ...]) -> bytes | None:
        async with self._session.get(
            self._base + path, params=query, timeout=self._timeout, allow_redirects=False
        ) as response:
            if response.status == _NOT_FOUND:
                return None
            if response.status != _OK:
                raise self._failed(reason=f"HTTP {response.status}")
            body = bytearray()
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > _MOST_BYTES:
                    raise self._failed(reason=f"answered with more than {_MOST_BYTES} bytes")
            return bytes(body)


class CircuitBreaker:
    """Circuit breaker: after `failures` failures in a row it opens for `open_s` seconds.

    The next failure opens it again, a success closes it.
    """

    def __init__(
        self,
        *,
        failures: int,
        open_s: float,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = failures
        self._open_s = open_s
        self._monotonic_s = monotonic_s
        self._failed = 0
        self._open_until_s = 0.0

    @property
    def is_open(self) -> bool:
        """True if the service must not be queried now."""
        return self._monotonic_s() < self._open_until_s

    def note_success(self) -> None:
        """Close the breaker."""
        self._failed = 0

    def note_failure(self) -> None:
        """Count a failure."""
        self._failed += 1
        if self._failed >= self._most:
            self._open_until_s = self._monotonic_s() + self._open_s
