"""JSON-RPC transport over one WebSocket: many requests in flight, and subscription events between
their answers.

The connection opens on first use. When it breaks, everything in flight fails with UpstreamError,
and the next request opens it again.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.frames import CloseCode

from core.errors import UpstreamError
from core.rpc.failures import AnswerTimeoutError, AnswerTooLargeError, MalformedAnswerError
from core.rpc.messages import RpcFault, RpcRequest
from core.rpc.transport import TransportLimits, describe
from core.rpc.wire import decode_answers, encode_requests

_PING_S = 15.0
_ANNOUNCEMENTS_KEPT = 256
_FEEDS_KEPT = 8

# Its own logger, kept quiet: the library's debug lines quote the request path, where keys live.
_quiet = logging.getLogger("indexer.websocket.frames")
_quiet.setLevel(logging.CRITICAL)


class _Announced(msgspec.Struct):
    subscription: str = ""
    result: msgspec.Raw = msgspec.Raw()


class _Peek(msgspec.Struct):
    """The part of a message that identifies its recipient."""

    id: int | str | float | None = None
    method: str | None = None
    params: _Announced | None = None


_peek_one = msgspec.json.Decoder(_Peek)
_peek_many = msgspec.json.Decoder(list[_Peek])

_Waiting = asyncio.Future[bytes]
_Feed = asyncio.Queue[msgspec.Raw | UpstreamError]


class WebSocketTransport:
    """WebSocket connection to one endpoint, opened on first use and again after it broke."""

    def __init__(self, url: str, *, service: str, limits: TransportLimits) -> None:
        self._url = url
        self._service = service
        self._limits = limits
        self._opening = asyncio.Lock()
        self._connection: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._waiting: dict[int, _Waiting] = {}
        self._feeds: dict[str, _Feed] = {}

    def __repr__(self) -> str:
        return f"WebSocketTransport({self._service})"

    @property
    def service(self) -> str:
        """Return host and port."""
        return self._service

    async def exchange(self, body: bytes, *, ids: range) -> bytes:
        """Send one message and return the one that has any of its ids."""
        answer: _Waiting = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self._limits.timeout_s):
                connection = await self._open()
                self._waiting.update(dict.fromkeys(ids, answer))
                await connection.send(body, text=True)
                return await answer
        except TimeoutError:
            reason = f"no answer within {self._limits.timeout_s:g} s"
            raise AnswerTimeoutError(service=self._service, reason=reason) from None
        except (WebSocketException, OSError) as error:
            raise UpstreamError(service=self._service, reason=describe(error)) from None
        finally:
            for number in ids:
                self._waiting.pop(number, None)

    async def announcements(self, topic: str, *, first_id: int) -> AsyncIterator[msgspec.Raw]:
        """Subscribe (`eth_subscribe`) and yield the events until the connection breaks.

        Raises UpstreamError when it breaks or the node rejects the subscription.
        """
        request = RpcRequest("eth_subscribe", (topic,))
        body = await self.exchange(
            encode_requests([request], first_id=first_id), ids=range(first_id, first_id + 1)
        )
        answer = decode_answers(body, first_id=first_id, count=1, service=self._service)[0]
        if isinstance(answer, RpcFault):
            raise UpstreamError(service=self._service, reason=f"eth_subscribe: {answer.message}")
        name = _subscription_id(answer, service=self._service)
        feed = self._feeds.setdefault(name, asyncio.Queue())
        try:
            while True:
                announced = await feed.get()
                if isinstance(announced, UpstreamError):
                    raise announced
                yield announced
        finally:
            self._feeds.pop(name, None)

    async def aclose(self) -> None:
        """Close the connection. Requests in flight fail."""
        reader, self._reader = self._reader, None
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()
        if reader is not None:
            reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reader

    async def _open(self) -> ClientConnection:
        async with self._opening:
            if self._connection is None:
                self._connection = await connect(
                    self._url,
                    open_timeout=self._limits.timeout_s,
                    ping_interval=_PING_S,
                    ping_timeout=self._limits.timeout_s,
                    close_timeout=1.0,
                    max_size=self._limits.max_response_bytes,
                    logger=_quiet,
                    user_agent_header=None,
                    proxy=None,
                )
                self._reader = asyncio.create_task(self._read(self._connection))
            return self._connection

    async def _read(self, connection: ClientConnection) -> None:
        failure: UpstreamError
        try:
            async for message in connection:
                self._deliver(message.encode() if isinstance(message, str) else message)
            failure = UpstreamError(service=self._service, reason="connection closed")
        except ConnectionClosed as error:
            failure = self._explain(error)
        except UpstreamError as error:
            failure = error
        self._connection = None
        self._fail(failure)
        await connection.close()

    def _explain(self, error: ConnectionClosed) -> UpstreamError:
        if error.sent is not None and error.sent.code == CloseCode.MESSAGE_TOO_BIG:
            reason = f"over {self._limits.max_response_bytes} bytes"
            return AnswerTooLargeError(service=self._service, reason=reason)
        return UpstreamError(service=self._service, reason="connection closed")

    def _fail(self, failure: UpstreamError) -> None:
        waiting, self._waiting = self._waiting, {}
        for answer in waiting.values():
            if not answer.done():
                answer.set_exception(failure)
        for feed in self._feeds.values():
            feed.put_nowait(failure)

    def _deliver(self, body: bytes) -> None:
        try:
            peeks = _peek_many.decode(body) if body[:1] == b"[" else [_peek_one.decode(body)]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise MalformedAnswerError(
                service=self._service, reason=f"not JSON-RPC: {error}"
            ) from None
        if len(peeks) == 1 and peeks[0].params is not None:
            self._announce(peeks[0].params)
            return
        answer = self._find(peeks)
        if answer is not None and not answer.done():
            answer.set_result(body)

    def _find(self, peeks: list[_Peek]) -> _Waiting | None:
        for peek in peeks:
            if isinstance(peek.id, int) and peek.id in self._waiting:
                return self._waiting[peek.id]
        # An error without a known id can be matched only when a single request is open.
        open_questions = set(self._waiting.values())
        lone = len(open_questions) == 1 and any(peek.id is None for peek in peeks)
        return open_questions.pop() if lone else None

    def _announce(self, announced: _Announced) -> None:
        # The first event may arrive before the subscription's id has been read.
        if announced.subscription not in self._feeds and len(self._feeds) >= _FEEDS_KEPT:
            return
        feed = self._feeds.setdefault(announced.subscription, asyncio.Queue())
        feed.put_nowait(announced.result.copy())
        if feed.qsize() > _ANNOUNCEMENTS_KEPT:
            feed.get_nowait()


def _subscription_id(answer: msgspec.Raw, *, service: str) -> str:
    try:
        return msgspec.json.decode(answer, type=str)
    except msgspec.MsgspecError as error:
        raise MalformedAnswerError(service=service, reason=f"eth_subscribe: {error}") from None
