"""HTTP/1.1 connections to one endpoint, kept open between requests. Only POST, one at a time."""

import asyncio
import base64
import contextlib
import ipaddress
import ssl
import time
from urllib.parse import SplitResult, quote, unquote, urlsplit

from core.rpc.http_response import Response, ResponseError, ResponseReader

_KEPT_S = 30.0
"""Time for which a connection without requests is kept."""
_CONNECT_S = 5.0
_HAPPY_EYEBALLS_S = 0.25
"""Head start of the first of several addresses of a host (RFC 8305, section 5)."""
_PORTS = {"http": 80, "https": 443}
_PATH_CHARS = "/:@!$&'()*+,;=-._~%"
_USER_AGENT = "assay"


class ConnectionPool:
    """Connections to one URL. For one event loop; any number of concurrent requests."""

    def __init__(self, url: str) -> None:
        """`url` is http or https, with a host."""
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._port = parts.port or _PORTS[parts.scheme]
        self._is_tls = parts.scheme == "https"
        self._head = _request_head(parts, host=self._host, port=self._port)
        self._context: ssl.SSLContext | None = None
        self._idle: list[_Connection] = []

    async def post(self, body: bytes, *, most_bytes: int, timeout_s: float) -> Response:
        """Send a JSON body and return the response.

        Raises TimeoutError, OSError, and ResponseError for a response that is none or is too long.
        A connection that the other side has closed meanwhile is replaced once.
        """
        async with asyncio.timeout(timeout_s):
            kept = self._take_idle()
            if kept is not None:
                with contextlib.suppress(_UnusedError):
                    return await self._exchange(kept, body, most_bytes=most_bytes)
            connection = await self._connect()
            try:
                return await self._exchange(connection, body, most_bytes=most_bytes)
            except _UnusedError as error:
                raise ResponseError(*error.args) from None

    def close(self) -> None:
        """Close the connections that carry no request."""
        while self._idle:
            self._idle.pop().close()

    def _take_idle(self) -> "_Connection | None":
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and time.monotonic() - connection.idle_since_s < _KEPT_S:
                return connection
            connection.close()
        return None

    async def _connect(self) -> "_Connection":
        if self._is_tls and self._context is None:
            self._context = ssl.create_default_context()
        async with asyncio.timeout(_CONNECT_S):
            _, connection = await asyncio.get_running_loop().create_connection(
                _Connection,
                self._host,
                self._port,
                ssl=self._context,
                happy_eyeballs_delay=_HAPPY_EYEBALLS_S,
            )
        return connection

    async def _exchange(
        self, connection: "_Connection", body: bytes, *, most_bytes: int
    ) -> Response:
        reader = ResponseReader(most_bytes=most_bytes, spare=connection.spare)
        connection.spare = None
        try:
            await connection.exchange(self._head % len(body), body, reader)
            response = reader.response()
        except BaseException:
            connection.close()
            raise
        if reader.can_go_on and connection.is_free:
            connection.idle_since_s = time.monotonic()
            if isinstance(response.body, bytearray):  # not one that was packed
                connection.spare = response.body
            self._idle.append(connection)
        else:
            connection.close()
        return response


class _UnusedError(Exception):
    """The other side closed a connection without a byte of an answer."""


class _Connection(asyncio.BufferedProtocol):
    """One connection; carries one exchange at a time."""

    def __init__(self) -> None:
        self.idle_since_s = 0.0
        self.spare: bytearray | None = None
        """Body of its last response."""
        self._transport: asyncio.Transport | None = None
        self._reader: ResponseReader | None = None
        self._answered: asyncio.Future[None] | None = None

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_free(self) -> bool:
        """True if it can carry another request: the last one was sent to its end."""
        transport = self._transport
        return transport is not None and self.is_open and not transport.get_write_buffer_size()

    def close(self) -> None:
        """Close at once; what is under way is lost."""
        self._reader = None
        if self._transport is not None:
            self._transport.abort()

    async def exchange(self, head: bytes, body: bytes, reader: ResponseReader) -> None:
        """Send a request and wait until the reader is complete. Raises ResponseError, OSError."""
        if self._transport is None or self._transport.is_closing():
            raise _UnusedError
        self._reader = reader
        self._answered = asyncio.get_running_loop().create_future()
        self._transport.write(head + body)
        await self._answered

    # --- called by the event loop -----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError(transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return memoryview(bytearray(1)) if self._reader is None else self._reader.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        if self._reader is None:
            self.close()  # nobody asked
            return
        try:
            if self._reader.received(nbytes):
                self._end(None)
        except ResponseError as error:
            self._end(error)

    def eof_received(self) -> None:
        if self._reader is None:
            return
        try:
            self._reader.received_end()
        except ResponseError as error:
            self._end(error if self._reader.has_begun else _UnusedError(*error.args))
        else:
            self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._reader is None:
            return
        is_reset = isinstance(exc, ConnectionResetError | BrokenPipeError)
        if exc is None or (is_reset and not self._reader.has_begun):
            self.eof_received()
        else:
            self._end(exc)

    def _end(self, error: Exception | None) -> None:
        self._reader = None
        if self._answered is None or self._answered.done():
            return
        if error is None:
            self._answered.set_result(None)
        else:
            self._answered.set_exception(error)


def _request_head(parts: SplitResult, *, host: str, port: int) -> bytes:
    """Return the head of every request, with a place for the length of its body."""
    shown = f"[{host}]" if ":" in host else host.encode("idna").decode()
    target = quote(parts.path or "/", safe=_PATH_CHARS)
    if parts.query:
        target += "?" + quote(parts.query, safe=_PATH_CHARS + "?")
    headers = {
        "Host": shown if port == _PORTS[parts.scheme] else f"{shown}:{port}",
        "User-Agent": _USER_AGENT,
        "Accept": "application/json",
        "Accept-Encoding": "identity" if _is_near(host) else "gzip",
        "Content-Type": "application/json",
    }
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"POST {target} HTTP/1.1\r\n{lines}".encode("latin-1").replace(b"%", b"%%")
    return head + b"Content-Length: %d\r\n\r\n"


def _is_near(host: str) -> bool:
    """True for this machine and private networks, where packing takes longer than sending."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False
