"""JSON-RPC transport over HTTP: POSTs over connections that are kept open between requests.

No redirect is followed, as it would send the request, and the key in its address, to another host;
no cookie is kept, and no proxy is taken from the environment.
"""

import io
import ipaddress
from collections.abc import Mapping

import aiohttp
from yarl import URL

from core.errors import UpstreamError
from core.rpc.failures import (
    AnswerTimeoutError,
    AnswerTooLargeError,
    HttpStatusError,
    RateLimitedError,
)
from core.rpc.transport import TransportLimits, describe
from core.rpc.wire import Message

_HTTP_TOO_MANY = 429
_HTTP_REDIRECT = 300
_KEPT_S = 30.0
"""Time for which a connection without requests is kept."""
_CONNECT_S = 5.0
_BUFFER_BYTES = 2**20
"""Bytes of a body that may wait to be read: with the library's 64 KiB, receiving is paused and
resumed at each piece of a long one."""

_LONG_BODY = 2**20
"""Bytes of a request from which on the library warns of writing it at once."""


class HttpTransport:
    """HTTP connections to one endpoint, opened as they are needed."""

    def __init__(self, url: str, *, service: str, limits: TransportLimits) -> None:
        """`url` is http or https, with a host. Needs a running event loop."""
        self._service = service
        self._limits = limits
        address = URL(url)
        self._url = address.with_user(None)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEPT_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=_headers(address),
            timeout=aiohttp.ClientTimeout(total=limits.timeout_s, sock_connect=_CONNECT_S),
            read_bufsize=_BUFFER_BYTES,
        )

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
        try:
            return await self._post(body)
        except TimeoutError:
            reason = f"no answer within {self._limits.timeout_s:g} s"
            raise AnswerTimeoutError(service=self._service, reason=reason) from None
        except aiohttp.ServerDisconnectedError:
            raise UpstreamError(service=self._service, reason="no answer") from None
        except aiohttp.ClientPayloadError:
            reason = "a truncated or corrupt answer"
            raise UpstreamError(service=self._service, reason=reason) from None
        except aiohttp.ClientResponseError:
            raise UpstreamError(service=self._service, reason="not HTTP") from None
        except (aiohttp.ClientError, OSError) as error:
            raise UpstreamError(service=self._service, reason=describe(error)) from None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.close()

    async def _post(self, body: bytes) -> Message:
        try:
            return await self._post_once(body)
        except aiohttp.ClientConnectorError:
            raise
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            # The other side had closed a kept connection; the library repeats no POST by itself.
            return await self._post_once(body)

    async def _post_once(self, body: bytes) -> Message:
        # The library writes a long body in parts if it can be read in parts.
        data = body if len(body) < _LONG_BODY else io.BytesIO(body)
        # A response that is left unread takes its connection along.
        async with self._session.post(self._url, data=data, allow_redirects=False) as response:
            return self._read(response.status, response.headers, await self._receive(response))

    async def _receive(self, response: aiohttp.ClientResponse) -> bytes:
        most_bytes = self._limits.max_response_bytes
        parts: list[bytes] = []
        size = 0
        announced_bytes = response.content_length
        if announced_bytes is not None and announced_bytes > most_bytes:
            raise self._too_large()
        async for part in response.content.iter_any():
            size += len(part)
            if size > most_bytes:
                raise self._too_large()
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read(self, status: int, headers: Mapping[str, str], body: bytes) -> Message:
        if status == _HTTP_TOO_MANY:
            raise RateLimitedError(
                service=self._service,
                reason="HTTP 429",
                retry_after_s=parse_retry_after(headers.get("Retry-After")),
            )
        # Some nodes send JSON-RPC errors with an HTTP error status: the body is more precise.
        if status >= _HTTP_REDIRECT and b'"jsonrpc"' not in body:
            raise HttpStatusError(service=self._service, status=status)
        return body

    def _too_large(self) -> AnswerTooLargeError:
        reason = f"over {self._limits.max_response_bytes} bytes"
        return AnswerTooLargeError(service=self._service, reason=reason)


def parse_retry_after(header: str | None) -> float | None:
    """Return the seconds to wait. None: no header, or a date (which no node was seen to send)."""
    try:
        seconds = float(header) if header is not None else None
    except ValueError:
        return None
    return seconds if seconds is not None and 0 <= seconds < float("inf") else None


def _headers(url: URL) -> dict[str, str]:
    headers = {
        "User-Agent": "assay",
        "Accept": "application/json",
        "Accept-Encoding": "identity" if _is_near(url.host or "") else "gzip",
        "Content-Type": "application/json",
    }
    if url.user is not None:
        headers["Authorization"] = aiohttp.encode_basic_auth(url.user, url.password or "")
    return headers


def _is_near(host: str) -> bool:
    """True for this machine and private networks, where packing takes longer than sending."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False
