"""ASGI application around another: bodies arrive, and streams are read, within a deadline."""

import asyncio
from collections import deque
from typing import Final

import msgspec
from litestar.enums import ScopeType
from litestar.types import (
    ASGIApp,
    HTTPReceiveMessage,
    Message,
    Receive,
    Scope,
    Send,
    WebSocketReceiveMessage,
)

from api.error_answers import DetailBody, RefusalError
from api.serving.connection_bounds import Peer
from api.serving.connection_guard import ConnectionGuard
from api.serving.packing import pack

BODY_WITHIN_S: Final = 10.0
"""Seconds from a call's head to the end of its body."""

READ_WITHIN_S: Final = 30.0
"""Seconds in which a caller has to read a part of a streamed answer."""

_FIRST_BYTES: Final = 16_384
"""Bytes of a body that have to arrive before the call is handled, as at HAProxy. Handling a call
costs far more than waiting for its body."""

_ReceiveMessage = HTTPReceiveMessage | WebSocketReceiveMessage


class LateBodyError(RefusalError):
    """The body of the call did not arrive in time."""

    def __init__(self) -> None:
        detail = f"The body did not arrive within {BODY_WITHIN_S:g} seconds."
        headers = {"Connection": "close"}
        super().__init__(status=408, body=DetailBody(detail=detail), headers=headers)


class TruncatedBodyError(RefusalError):
    """The connection ended before the body, or the body is no chunked one."""

    def __init__(self) -> None:
        super().__init__(status=400, body=DetailBody(detail="The body is incomplete."))


class GuardedCalls:
    """Application whose calls are known to the guard of their connections."""

    def __init__(self, app: ASGIApp, guard: ConnectionGuard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one call."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        call = _Call(self._guard, _peer_of(scope), receive, send)
        try:
            if scope["method"] in ("GET", "HEAD"):
                call.become_whole()
            else:
                await call.read_first()
            await self._app(scope, call.receive, call.send)
        except (LateBodyError, TruncatedBodyError) as error:
            await _send_refusal(error, send)
        finally:
            call.end()


class _Call:
    """One call; whole once its body has arrived."""

    __slots__ = ("_ends_s", "_guard", "_is_whole", "_peer", "_read", "_receive", "_send")

    def __init__(self, guard: ConnectionGuard, peer: Peer, receive: Receive, send: Send) -> None:
        self._guard = guard
        self._peer = peer
        self._receive = receive
        self._send = send
        self._is_whole = False
        self._ends_s = asyncio.get_running_loop().time() + BODY_WITHIN_S
        self._read: deque[_ReceiveMessage] = deque()

    def become_whole(self) -> None:
        """Note that the body is complete, or is not read."""
        self._is_whole = True
        self._guard.begin(self._peer)

    def end(self) -> None:
        """Note the end of the call."""
        if self._is_whole:
            self._guard.end(self._peer)

    async def read_first(self) -> None:
        """Wait for the body, or its beginning. Raises as `receive` does."""
        size = 0
        while size < _FIRST_BYTES and not self._is_whole:
            message = await self._receive_in_time()
            self._read.append(message)
            if message["type"] == "http.request":
                size += len(message["body"])

    async def receive(self) -> _ReceiveMessage:
        """Receive a message.

        Raises LateBodyError if a part of the body is late, TruncatedBodyError if it does not come.
        """
        if self._read:
            return self._read.popleft()
        return await (self._receive() if self._is_whole else self._receive_in_time())

    async def send(self, message: Message) -> None:
        """Send a message. The connection is closed when a part of a stream is not read in time."""
        if not message.get("more_body"):
            await self._send(message)
            return
        try:
            async with asyncio.timeout(READ_WITHIN_S):
                await self._send(message)
        except TimeoutError:
            self._guard.close(self._peer)

    async def _receive_in_time(self) -> _ReceiveMessage:
        try:
            async with asyncio.timeout_at(self._ends_s):
                message = await self._receive()
        except TimeoutError:
            raise LateBodyError from None
        if message["type"] != "http.request":
            raise TruncatedBodyError
        if not message.get("more_body"):
            self.become_whole()
        return message


def _peer_of(scope: Scope) -> Peer:
    host, port = scope["client"] or ("", 0)
    return host, port


async def _send_refusal(error: RefusalError, send: Send) -> None:
    answer = pack(error.status, msgspec.json.encode(error.body))
    headers = [*answer.headers, *error.raw_headers()]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body, "more_body": False})
