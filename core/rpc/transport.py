"""Transport to one endpoint: sends one message and returns its answer, bounded in time and size.

Errors never contain more of an endpoint's address than host and port, as the rest may hold a key.
"""

import logging
from collections.abc import AsyncIterator
from io import BytesIO
from typing import Protocol, runtime_checkable
from urllib.parse import urlsplit

import aiohttp
from msgspec import Raw, Struct

from core.errors import ConfigError, UpstreamError
from core.rpc.failures import (
    AnswerTimeoutError,
    AnswerTooLargeError,
    HttpStatusError,
    RateLimitedError,
)

_SCHEMES = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_HTTP_TOO_MANY = 429
_HTTP_REDIRECT = 300

# aiohttp and websockets log request lines, and with them the key in an address.
for _name in ("aiohttp.client", "aiohttp.internal", "websockets.client"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class TransportLimits(Struct, frozen=True, kw_only=True):
    """Limits of one exchange."""

    timeout_s: float
    max_response_bytes: int


class Transport(Protocol):
    """Transport to one endpoint. Raises UpstreamError or a subclass for every failure."""

    @property
    def service(self) -> str:
        """Return host and port, for messages. Never the path, the query or the user, which may hold
        keys."""
        ...

    async def exchange(self, body: bytes, *, ids: range) -> bytes:
        """Send one message and return its answer. `ids` are those of its requests."""
        ...

    async def aclose(self) -> None:
        """Close the connection."""
        ...


@runtime_checkable
class AnnouncingTransport(Transport, Protocol):
    """Transport over which a node announces events by itself."""

    def announcements(self, topic: str, *, first_id: int) -> AsyncIterator[Raw]:
        """Subscribe (`eth_subscribe`) and yield the events. Raises UpstreamError when it ends."""
        ...


def name_endpoint(url: str, *, source: str) -> str:
    """Return host and port of a node's address, the only parts of it that may be shown.

    Raises ConfigError, without the address, when it is not an HTTP or WebSocket URL.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ConfigError(source=source, key="url", reason="not a URL") from None
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise ConfigError(source=source, key="url", reason="not an http, https, ws or wss URL")
    return f"{parts.hostname}:{port or _SCHEMES[parts.scheme]}"


def describe(error: BaseException) -> str:
    """Return the reason of an error, without the texts of libraries that quote whole addresses."""
    if isinstance(error, aiohttp.ClientConnectorError):
        error = error.os_error
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__


class HttpTransport:
    """POSTs over kept-alive connections of a shared session."""

    def __init__(
        self, url: str, *, service: str, session: aiohttp.ClientSession, limits: TransportLimits
    ) -> None:
        self._url = url
        self._service = service
        self._session = session
        self._limits = limits

    def __repr__(self) -> str:
        return f"HttpTransport({self._service})"

    @property
    def service(self) -> str:
        """Return host and port."""
        return self._service

    async def exchange(self, body: bytes, *, ids: range) -> bytes:
        """POST the message and return its answer. `ids` is not used: HTTP pairs request and
        answer."""
        del ids
        try:
            # No redirects: they would send the request, and its key, to another host.
            async with self._session.post(
                self._url,
                # As a stream: aiohttp writes bytes at once, and batches of simulations are large.
                data=BytesIO(body),
                headers={"Content-Type": "application/json"},
                timeout=_timeouts(self._limits.timeout_s),
                allow_redirects=False,
            ) as response:
                return await self._read(response)
        except TimeoutError:
            reason = f"no answer within {self._limits.timeout_s:g} s"
            raise AnswerTimeoutError(service=self._service, reason=reason) from None
        except (aiohttp.ClientError, OSError) as error:
            raise UpstreamError(service=self._service, reason=describe(error)) from None

    async def aclose(self) -> None:
        """Do nothing: the session's owner closes it."""

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        if response.status == _HTTP_TOO_MANY:
            raise RateLimitedError(
                service=self._service,
                reason="HTTP 429",
                retry_after_s=parse_retry_after(response.headers.get("Retry-After")),
            )
        body = await self._read_bounded(response)
        # Some nodes send JSON-RPC errors with an HTTP error status: the body is more precise.
        if response.status >= _HTTP_REDIRECT and b'"jsonrpc"' not in body:
            raise HttpStatusError(service=self._service, status=response.status)
        return body

    async def _read_bounded(self, response: aiohttp.ClientResponse) -> bytes:
        most = self._limits.max_response_bytes
        parts: list[bytes] = []
        size = 0
        async for part in response.content.iter_any():
            size += len(part)
            if size > most:
                response.close()
                raise AnswerTooLargeError(service=self._service, reason=f"over {most} bytes")
            parts.append(part)
        return b"".join(parts)


def open_session() -> aiohttp.ClientSession:
    """Return a session that keeps connections and drops cookies."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit_per_host=32, keepalive_timeout=30),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"Accept-Encoding": "gzip, deflate"},
    )


def parse_retry_after(header: str | None) -> float | None:
    """Return the seconds to wait. None: no header, or a date (which no node was seen to send)."""
    try:
        seconds = float(header) if header is not None else None
    except ValueError:
        return None
    return seconds if seconds is not None and 0 <= seconds < float("inf") else None


def _timeouts(total_s: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(
        total=total_s, connect=total_s, sock_connect=min(total_s, 5.0), sock_read=total_s
    )
