"""Protects the HTTP of nodes' answers: whole ones come as they were sent, all else is an error."""

import asyncio
import gzip
import http.client
import io
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rpc.http_connection import ConnectionPool
from core.rpc.http_response import (
    Response,
    ResponseError,
    ResponseReader,
    ResponseTooLongError,
)

MOST = 5_000_000
BODIES = st.one_of(st.binary(max_size=400), st.integers(0, 150_000).map(lambda size: b"x" * size))


def read(sent: bytes, cuts: Sequence[int] = (), *, is_ended: bool = True) -> Response:
    """What a reader makes of these bytes, received in these pieces at most."""
    reader = ResponseReader(most_bytes=MOST)
    sizes = [*cuts, len(sent)]
    at = 0
    while at < len(sent):
        room = reader.buffer()
        size = min(max(sizes.pop(0) if sizes else len(sent), 1), len(room), len(sent) - at)
        room[:size] = sent[at : at + size]
        at += size
        if reader.received(size):
            return reader.response()
    if is_ended:
        reader.received_end()
    return reader.response()


def head(*lines: str) -> bytes:
    return "\r\n".join(("HTTP/1.1 200 OK", *lines, "", "")).encode()


def chunked(body: bytes, size: int) -> bytes:
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    told = b"".join(b"%x;note=1\r\n%s\r\n" % (len(part), part) for part in parts)
    return told + b"0\r\nTrailer: x\r\n\r\n"


FRAMES: dict[str, Callable[[bytes], bytes]] = {
    "told": lambda body: head(f"Content-Length: {len(body)}") + body,
    "told twice": lambda body: head(f"content-length:{len(body)}, {len(body)}") + body,
    "chunks": lambda body: head("Transfer-Encoding: chunked") + chunked(body, 7_000),
    "small chunks": lambda body: (
        head("transfer-encoding: Chunked") + chunked(body, len(body) // 200 + 1)
    ),
    "until the end": lambda body: head("Connection: close") + body,
    "after a hint": lambda body: (
        b"HTTP/1.1 100 Continue\r\n\r\n" + head(f"Content-Length: {len(body)}") + body
    ),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@given(body=BODIES, cuts=st.lists(st.integers(1, 70_000), max_size=12), is_packed=st.booleans())
def test_a_body_comes_as_the_library_reads_it(
    frame: Callable[[bytes], bytes], body: bytes, cuts: list[int], is_packed: bool
) -> None:
    """However it is framed, and wherever it is cut on the way."""
    sent = frame(body)
    if is_packed:
        packed = frame(gzip.compress(body, 1))
        sent = packed.replace(b"200 OK\r\n", b"200 OK\r\nContent-Encoding: gzip\r\n", 1)
    found = read(sent, cuts)
    library = http.client.HTTPResponse(cast("socket.socket", _Wire(sent)))
    library.begin()
    expected = library.read()
    if is_packed:
        expected = gzip.decompress(expected)
    assert found.status == library.status
    assert found.body == expected == body


class _Wire:
    """What the library takes of a socket."""

    def __init__(self, sent: bytes) -> None:
        self._sent = sent

    def makefile(self, _: str) -> io.BytesIO:
        return io.BytesIO(self._sent)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"<html>\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 twohundred OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n folded: 1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 20_000,
        head("Content-Length: 10") + b"short",
        head("Content-Length: -1"),
        head("Content-Length: 1, 2") + b"12",
        head("Content-Length: \u0663") + b"123",
        head("Transfer-Encoding: gzip, chunked") + chunked(b"x", 1),
        head("Transfer-Encoding: chunked") + b"5\r\nabc",
        head("Transfer-Encoding: chunked") + b"3\r\nabcdef\r\n0\r\n\r\n",
        head("Transfer-Encoding: chunked") + b"+3\r\nabc\r\n0\r\n\r\n",
        head("Transfer-Encoding: chunked") + b"3\r\nabc\r\n",
        head("Transfer-Encoding: chunked") + b"1" * 200_000,
        head("Content-Encoding: br", "Content-Length: 1") + b"x",
        head("Content-Encoding: gzip", "Content-Length: 1") + b"x",
        head("Content-Encoding: gzip", "Content-Length: 20") + gzip.compress(b"x" * 99)[:20],
    ],
    ids=lambda sent: repr(sent[:60]),
)
def test_what_is_no_whole_response_is_an_error(sent: bytes) -> None:
    for cuts in ((), [1] * len(sent[:300])):
        with pytest.raises(ResponseError):
            read(sent, cuts)


def test_what_comes_behind_a_response_is_an_error() -> None:
    """Nothing was asked for: whose answer the next bytes were could not be told."""
    with pytest.raises(ResponseError, match="more came"):
        read(head("Content-Length: 3") + b"longer")


@pytest.mark.parametrize(
    "sent",
    [
        head(f"Content-Length: {MOST + 1}"),
        head(f"Content-Length: {10**30}"),
        head("Transfer-Encoding: chunked") + b"ffffffffffffffff\r\n",
        head("Transfer-Encoding: chunked") + chunked(b"x" * (MOST + 1), 1 << 20),
        head() + b"x" * (MOST + 1),
        head("Content-Encoding: gzip") + gzip.compress(b"x" * (MOST + 1)),
    ],
    ids=lambda sent: repr(sent[:60]),
)
def test_a_body_over_the_bound_is_refused(sent: bytes) -> None:
    with pytest.raises(ResponseTooLongError, match=f"over {MOST} bytes"):
        read(sent)


@pytest.mark.parametrize("size", [1 << 20, 2 << 20, (4 << 20) - 5])
def test_room_is_used_again_only_where_nobody_refers_to_it(size: int) -> None:
    earlier = bytearray(b"y" * (3 << 20))
    sent = head(f"Content-Length: {size}") + b"z" * size
    with memoryview(earlier)[5:9] as in_use:
        assert received_into(sent, earlier).body == b"z" * size
        assert bytes(in_use) == b"yyyy"
    again = received_into(sent, earlier).body
    assert again == b"z" * size
    assert (again is earlier) == (size > 1 << 20)


def received_into(sent: bytes, spare: bytearray) -> Response:
    reader = ResponseReader(most_bytes=MOST, spare=spare)
    at, is_done = 0, False
    while not is_done:
        room = reader.buffer()
        size = min(len(room), len(sent) - at)
        room[:size] = sent[at : at + size]
        at, is_done = at + size, reader.received(size)
        room.release()
    return reader.response()


# --- connections to a real port -------------------------------------------------------------------


class Server:
    """Answers each request on its connections by the next of these; empty: it hangs up."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = [*answers]
        self.requests: list[bytes] = []
        self.connections = 0
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        while self.answers:
            try:
                asked = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            length = int(asked.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            self.requests.append(asked + await reader.readexactly(length))
            answer = self.answers.pop(0)
            writer.write(answer)
            await writer.drain()
            if not answer or answer.endswith(b"!"):
                break
        writer.close()


@asynccontextmanager
async def serving(*answers: bytes) -> AsyncIterator[Server]:
    server = Server(*answers)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    async with listener:
        yield server


def ok(body: bytes) -> bytes:
    return head(f"Content-Length: {len(body)}") + body


async def post(pool: ConnectionPool, body: bytes = b"{}") -> bytes:
    response = await pool.post(body, most_bytes=MOST, timeout_s=2.0)
    return bytes(response.body)


async def test_one_connection_carries_one_request_after_another() -> None:
    async with serving(ok(b"1"), ok(b"22"), ok(b"")) as server:
        pool = ConnectionPool(f"http://us%40er:p%C3%A4ss@{server.url}/v3/key%2F1?a=b%20c")
        assert [await post(pool, b"[1]"), await post(pool), await post(pool)] == [b"1", b"22", b""]
        pool.close()
    assert server.connections == 1
    first = server.requests[0]
    assert first.startswith(b"POST /v3/key%2F1?a=b%20c HTTP/1.1\r\n")
    assert f"Host: {server.url}\r\n".encode() in first
    assert b"Authorization: Basic dXNAZXI6cMOkc3M=\r\n" in first
    assert first.endswith(b"Content-Length: 3\r\n\r\n[1]")


@pytest.mark.parametrize("closing", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut!"])
async def test_a_connection_that_was_closed_meanwhile_is_replaced(closing: bytes) -> None:
    """Without a byte of an answer the request is sent again, once; after one it is an error."""
    async with serving(ok(b"1"), closing, ok(b"2")) as server:
        pool = ConnectionPool(f"http://{server.url}")
        assert await post(pool) == b"1"
        if closing:
            with pytest.raises(ResponseError, match="closed within an answer"):
                await post(pool)
        assert await post(pool) == b"2"
        pool.close()
    assert server.connections == 2


async def test_a_server_that_only_hangs_up_is_an_error() -> None:
    async with serving(b"", b"") as server:
        pool = ConnectionPool(f"http://{server.url}")
        with pytest.raises(ResponseError, match="no answer"):
            await post(pool)


async def test_what_is_not_to_be_kept_is_not_kept() -> None:
    closing = head("Connection: close", "Content-Length: 1") + b"1"
    old = b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n2"
    async with serving(closing, old, ok(b"3")) as server:
        pool = ConnectionPool(f"http://{server.url}")
        assert [await post(pool), await post(pool), await post(pool)] == [b"1", b"2", b"3"]
        pool.close()
    assert server.connections == 3


async def test_a_request_that_is_given_up_takes_its_connection_along() -> None:
    async with serving(ok(b"1"), head("Content-Length: 9"), ok(b"2")) as server:
        pool = ConnectionPool(f"http://{server.url}")
        assert await post(pool) == b"1"
        with pytest.raises(TimeoutError):
            await pool.post(b"{}", most_bytes=MOST, timeout_s=0.1)
        assert await post(pool) == b"2"
        pool.close()
    assert server.connections == 2
