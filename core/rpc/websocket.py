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
_ANNOUNCED_BYTES = 1 << 20
"""Most bytes of announcements that wait for their reader. A header has about two thousand."""

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


class _Feed:
    """Announcements of one subscription that wait for their reader; the oldest go first."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[msgspec.Raw | UpstreamError] = asyncio.Queue()
        self._bytes = 0

    def put(self, announced: msgspec.Raw) -> None:
        """Keep a copy. An announcement beyond the bound is dropped, as are older ones for it."""
        size = len(announced)
        if size > _ANNOUNCED_BYTES:
            return
        self._queue.put_nowait(announced.copy())
        self._bytes += size
        while self._bytes > _ANNOUNCED_BYTES or self._queue.qsize() > _ANNOUNCEMENTS_KEPT:
            self._taken(self._queue.get_nowait())

    def fail(self, failure: UpstreamError) -> None:
        """End the feed."""
        self._queue.put_nowait(failure)

    async def next(self) -> msgspec.Raw:
        """Wait for an announcement. Raises the error that ended the feed."""
        return self._taken(await self._queue.get())

    def _taken(self, announced: msgspec.Raw | UpstreamError) -> msgspec.Raw:
        if isinstance(announced, UpstreamError):
            raise announced
        self._bytes -= len(announced)
        return announced


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
        self._subscribing: dict[int, _Feed] = {}
        """Feeds of subscriptions that the node has not named yet, by the id of their request."""
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
        feed = self._subscribing[first_id] = _Feed()
        try:
            body = await self.exchange(
                encode_requests([request], first_id=first_id), ids=range(first_id, first_id + 1)
            )
            if first_id in self._subscribing:  # an answer without this id
                self._name(first_id, body)
            while True:
                yield await feed.next()
        finally:
            self._subscribing.pop(first_id, None)
            self._feeds = {name: one for name, one in self._feeds.items() if one is not feed}

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
        feeds, self._feeds = self._feeds, {}
        for feed in feeds.values():
            feed.fail(failure)

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
        if answer is None or answer.done():
            return
        if len(peeks) == 1 and isinstance(peeks[0].id, int) and peeks[0].id in self._subscribing:
            # Named here and not by the reader: an announcement may be the next message.
            self._name(peeks[0].id, body)
        answer.set_result(body)

    def _name(self, number: int, body: bytes) -> None:
        """Note the subscription of a feed, or the failure in place of it."""
        feed = self._subscribing.pop(number)
        try:
            name = _subscription_id(body, number=number, service=self._service)
        except UpstreamError as error:
            feed.fail(error)
        else:
            self._feeds[name] = feed

    def _find(self, peeks: list[_Peek]) -> _Waiting | None:
        for peek in peeks:
            if isinstance(peek.id, int) and peek.id in self._waiting:
                return self._waiting[peek.id]
        # An error without a known id can be matched only when a single request is open.
        open_questions = set(self._waiting.values())
        lone = len(open_questions) == 1 and any(peek.id is None for peek in peeks)
        return open_questions.pop() if lone else None

    def _announce(self, announced: _Announced) -> None:
        """Pass an announcement on. Those of unknown subscriptions are dropped."""
        feed = self._feeds.get(announced.subscription)
        if feed is not None:
            feed.put(announced.result)


def _subscription_id(body: bytes, *, number: int, service: str) -> str:
    """Return the subscription named by an answer. Raises UpstreamError if it names none."""
    answer = decode_answers(body, first_id=number, count=1, service=service)[0]
    if isinstance(answer, RpcFault):
        raise UpstreamError(service=service, reason=f"eth_subscribe: {answer.message}")
    try:
        return msgspec.json.decode(answer, type=str)
    except msgspec.MsgspecError as error:
        raise MalformedAnswerError(service=service, reason=f"eth_subscribe: {error}") from None
