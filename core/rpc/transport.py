"""Transport to one endpoint: sends one message and returns its answer, bounded in time and size.

Errors never contain more of an endpoint's address than host and port, as the rest may hold a key.
"""

import logging
from collections.abc import AsyncIterator
from typing import Protocol, runtime_checkable
from urllib.parse import urlsplit

from msgspec import Raw, Struct

from core.errors import ConfigError, UpstreamError
from core.rpc.failures import (
    AnswerTimeoutError,
    AnswerTooLargeError,
    HttpStatusError,
    RateLimitedError,
)
from core.rpc.http_connection import ConnectionPool
from core.rpc.http_response import Response, ResponseError, ResponseTooLongError
from core.rpc.wire import Message

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

    async def exchange(self, body: bytes, *, ids: range) -> Message:
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
        (parts.hostname or "").encode("idna")
    except ValueError:  # also of a host name that cannot be written in ASCII
        raise ConfigError(source=source, key="url", reason="not a URL") from None
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise ConfigError(source=source, key="url", reason="not an http, https, ws or wss URL")
    return f"{parts.hostname}:{port or _SCHEMES[parts.scheme]}"


def describe(error: BaseException) -> str:
    """Return the reason of an error, without the texts of libraries that quote whole addresses."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__


class HttpTransport:
    """POSTs over connections that are kept open."""

    def __init__(self, url: str, *, service: str, limits: TransportLimits) -> None:
        self._service = service
        self._limits = limits
        self._connections = ConnectionPool(url)

    def __repr__(self) -> str:
        return f"HttpTransport({self._service})"

    @property
    def service(self) -> str:
        """Return host and port."""
        return self._service

    async def exchange(self, body: bytes, *, ids: range) -> Message:
        """POST the message and return its answer. `ids` is not used: HTTP pairs request and
        answer."""
        del ids
        limits = self._limits
        try:
            response = await self._connections.post(
                body, most_bytes=limits.max_response_bytes, timeout_s=limits.timeout_s
            )
        except TimeoutError:
            reason = f"no answer within {limits.timeout_s:g} s"
            raise AnswerTimeoutError(service=self._service, reason=reason) from None
        except ResponseTooLongError as error:
            raise AnswerTooLargeError(service=self._service, reason=str(error)) from None
        except ResponseError as error:
            raise UpstreamError(service=self._service, reason=str(error)) from None
        except OSError as error:
            raise UpstreamError(service=self._service, reason=describe(error)) from None
        return self._read(response)

    async def aclose(self) -> None:
        """Close the connections."""
        self._connections.close()

    def _read(self, response: Response) -> Message:
        if response.status == _HTTP_TOO_MANY:
            raise RateLimitedError(
                service=self._service,
                reason="HTTP 429",
                retry_after_s=parse_retry_after(response.headers.get("retry-after")),
            )
        # Some nodes send JSON-RPC errors with an HTTP error status: the body is more precise.
        # No redirect is followed: it would send the request, and its key, to another host.
        if response.status >= _HTTP_REDIRECT and b'"jsonrpc"' not in response.body:
            raise HttpStatusError(service=self._service, status=response.status)
        return response.body


def parse_retry_after(header: str | None) -> float | None:
    """Return the seconds to wait. None: no header, or a date (which no node was seen to send)."""
    try:
        seconds = float(header) if header is not None else None
    except ValueError:
        return None
    return seconds if seconds is not None and 0 <= seconds < float("inf") else None
