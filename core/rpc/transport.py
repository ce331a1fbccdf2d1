"""Transport to one endpoint: sends one message and returns its answer, bounded in time and size.

Errors never contain more of an endpoint's address than host and port, as the rest may hold a key.
"""

import logging
from collections.abc import AsyncIterator
from typing import Protocol, runtime_checkable

from msgspec import Raw, Struct
from yarl import URL

from core.errors import ConfigError
from core.rpc.wire import Message

_SCHEMES = frozenset({"http", "https", "ws", "wss"})

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
        address = URL(url)
    except ValueError:
        raise ConfigError(source=source, key="url", reason="not a URL") from None
    if address.scheme not in _SCHEMES or not address.host:
        raise ConfigError(source=source, key="url", reason="not an http, https, ws or wss URL")
    if ":" in (address.user or ""):
        raise ConfigError(source=source, key="url", reason="a user name must not have a colon")
    return f"{address.host}:{address.port}"


def describe(error: BaseException) -> str:
    """Return the reason of an error, without the texts of libraries that quote whole addresses."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__
