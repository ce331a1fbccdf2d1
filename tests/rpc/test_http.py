"""Protects the HTTP of nodes' answers: whole ones come as they were sent, all else is an error.

The other side is a socket that sends the very bytes of a case.
"""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import ConfigError, UpstreamError
from core.rpc.failures import AnswerTimeoutError, AnswerTooLargeError, HttpStatusError
from core.rpc.http_transport import HttpTransport
from core.rpc.transport import TransportLimits, name_endpoint
from tests.harness.examples import one_in

MOST = 5_000_000
BODIES = st.one_of(st.binary(max_size=400), st.integers(0, 150_000).map(lambda size: b"x" * size))
IDS = range(1, 2)


class Server:
    """Answers each request on its connections by the next of these; empty: it hangs up.

    An answer that ends with `!` is the last on its connection.
    """

    def __init__(self, *answers: bytes, cuts: tuple[int, ...] = ()) -> None:
        self.answers = [*answers]
        self.cuts = cuts
        """Sizes of the first chunks of an answer."""
        self.requests: list[bytes] = []
        self.connections = 0
        self.open = 0
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        try:
            await self._answer_all(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.open -= 1
            writer.close()

    async def _answer_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while self.answers:
            request_head = await reader.readuntil(b"\r\n\r\n")
            length = int(request_head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            self.requests.append(request_head + await reader.readexactly(length))
            answer = self.answers.pop(0)
            at = 0
            for size in (*self.cuts, len(answer)):
                writer.write(answer[at : at + size])
                await writer.drain()
                await asyncio.sleep(0)
                at += size
            if not answer or answer.endswith(b"!"):
                return
        await reader.read()  # until the client hangs up


@asynccontextmanager
async def serving(*answers: bytes, cuts: tuple[int, ...] = ()) -> AsyncIterator[Server]:
    server = Server(*answers, cuts=cuts)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    async with listener:
        yield server


@asynccontextmanager
async def transport_to(
    server: Server, *, user: str = "", path: str = "", timeout_s: float = 2.0
) -> AsyncIterator[HttpTransport]:
    limits = TransportLimits(timeout_s=timeout_s, max_response_bytes=MOST)
    transport = HttpTransport(f"http://{user}{server.url}{path}", service="it", limits=limits)
    try:
        yield transport
    finally:
        await transport.aclose()


async def ask(transport: HttpTransport, body: bytes = b"{}") -> bytes:
    return bytes(await transport.exchange(body, ids=IDS))


async def until(is_so: Callable[[], bool]) -> None:
    """Let the server go on until this is so."""
    for _ in range(1_000):
        if is_so():
            return
        await asyncio.sleep(0.001)
    assert is_so()


def head(*lines: str) -> bytes:
    return "\r\n".join(("HTTP/1.1 200 OK", *lines, "", "")).encode()


def ok(body: bytes) -> bytes:
    return head(f"Content-Length: {len(body)}") + body


def chunked(body: bytes, size: int) -> bytes:
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    chunks = b"".join(b"%x;note=1\r\n%s\r\n" % (len(part), part) for part in parts)
    return chunks + b"0\r\nTrailer: x\r\n\r\n"


FRAMES: dict[str, Callable[[bytes], bytes]] = {
    "told": ok,
    "chunks": lambda body: head("Transfer-Encoding: chunked") + chunked(body, 7_000),
    "small chunks": lambda body: (
        head("transfer-encoding: Chunked") + chunked(body, len(body) // 200 + 1)
    ),
    "until the end": lambda body: head("Connection: close") + body + b"!",
    "after a hint": lambda body: b"HTTP/1.1 100 Continue\r\n\r\n" + ok(body),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@settings(max_examples=one_in(5))
@given(
    body=BODIES,
    cuts=st.lists(st.integers(1, 70_000), max_size=6).map(tuple),
    is_packed=st.booleans(),
)
async def test_a_body_comes_as_it_was_sent(
    frame: Callable[[bytes], bytes], body: bytes, cuts: tuple[int, ...], is_packed: bool
) -> None:
    """However it is framed, and wherever it is cut on the way."""
    if is_packed:
        packed = frame(gzip.compress(body, 1))
        sent = packed.replace(b"200 OK\r\n", b"200 OK\r\nContent-Encoding: gzip\r\n", 1)
    else:
        sent = frame(body)
    until_end = frame is FRAMES["until the end"] and not is_packed
    async with serving(sent, cuts=cuts) as server, transport_to(server) as transport:
        assert await ask(transport) == body + b"!" * until_end


CUT_GZIP = gzip.compress(b"x" * 99, mtime=0)[:19]

# Content that ends before its packing does is not among them: JSON that was cut is no JSON.
NOT_WHOLE = [
    b"<html>\r\n\r\n!",
    b"HTTP/2 200\r\n\r\n!",
    b"HTTP/1.1 twohundred OK\r\n\r\n!",
    b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n!",
    b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 20_000 + b"!",
    b"HTTP/1.1 200 OK\r\na: " + b"b" * 200_000 + b"!",
    head("Content-Length: 10") + b"short!",
    head("Content-Length: -1") + b"!",
    head("Content-Length: 1, 2") + b"12!",
    head("Content-Length: \u0663") + b"123!",
    head("Transfer-Encoding: chunked") + b"5\r\nabc!",
    head("Transfer-Encoding: chunked") + b"3\r\nabcdef\r\n0\r\n\r\n!",
    head("Transfer-Encoding: chunked") + b"+3\r\nabc\r\n0\r\n\r\n!",
    head("Transfer-Encoding: chunked") + b"3\r\nabc\r\n!",
    head("Transfer-Encoding: chunked") + b"1" * 200_000 + b"!",
    head("Content-Encoding: br", "Content-Length: 1") + b"!",
    head("Content-Encoding: gzip", "Content-Length: 20") + CUT_GZIP + b"!",
]


@pytest.mark.parametrize("length", [2, 2**20 - 1, 2**20, 3 * 2**20])
async def test_a_question_of_any_length_is_sent_whole(length: int) -> None:
    question = b"[" + b" " * (length - 2) + b"]"
    async with serving(ok(b"{}")) as server, transport_to(server) as transport:
        assert await ask(transport, question) == b"{}"
    (request,) = server.requests
    sent_head, _, sent = request.partition(b"\r\n\r\n")
    assert sent == question
    assert b"Content-Type: application/json" in sent_head


@pytest.mark.parametrize("sent", NOT_WHOLE, ids=lambda sent: repr(sent[:60]))
@pytest.mark.parametrize("cuts", [(), (1,) * 40], ids=["at once", "in bytes"])
async def test_what_is_no_whole_response_is_an_error(sent: bytes, cuts: tuple[int, ...]) -> None:
    async with serving(sent, ok(b"next"), cuts=cuts) as server, transport_to(server) as transport:
        with pytest.raises(UpstreamError) as caught:
            await ask(transport)
        assert server.url not in str(caught.value)
        assert await ask(transport) == b"next"
    assert server.connections == 2


OVER_THE_BOUND: dict[str, Callable[[], bytes]] = {
    "length": lambda: head(f"Content-Length: {MOST + 1}"),
    "far": lambda: head(f"Content-Length: {10**18}") + b"x",
    "chunked": lambda: head("Transfer-Encoding: chunked") + chunked(b"x" * (MOST + 1), 1 << 20),
    "until the end": lambda: head() + b"x" * (MOST + 1),
    "gzip": lambda: head("Content-Encoding: gzip") + gzip.compress(b"x" * (MOST + 1), 1, mtime=0),
    "deflate": lambda: head("Content-Encoding: deflate") + zlib.compress(b"x" * (40 * MOST), 1),
}
"""Bodies that are too long, each made by its test: they are large."""


@pytest.mark.parametrize("body", OVER_THE_BOUND)
async def test_a_body_over_the_bound_is_refused_before_it_ends(body: str) -> None:
    """The other side goes on, or keeps silent: nothing waits for its end."""
    async with serving(OVER_THE_BOUND[body]()) as server, transport_to(server) as transport:
        with pytest.raises(AnswerTooLargeError, match=f"over {MOST} bytes"):
            await ask(transport)


async def test_one_connection_carries_one_request_after_another() -> None:
    async with (
        serving(ok(b"1"), ok(b"22"), ok(b"")) as server,
        transport_to(server, user="us%40er:p%C3%A4ss@", path="/v3/key%2F1?a=b%20c") as transport,
    ):
        answers = [await ask(transport, b"[1]"), await ask(transport), await ask(transport)]
    assert answers == [b"1", b"22", b""]
    assert server.connections == 1
    first = server.requests[0]
    assert first.startswith(b"POST /v3/key%2F1?a=b%20c HTTP/1.1\r\n")
    for line in (
        f"Host: {server.url}",
        "Authorization: Basic dXNAZXI6cMOkc3M=",
        "User-Agent: assay",
        "Accept-Encoding: identity",
        "Content-Type: application/json",
    ):
        assert f"\r\n{line}\r\n".encode() in first
    assert b"Cookie" not in first
    assert first.endswith(b"\r\n\r\n[1]")


@pytest.mark.parametrize(
    ("closing", "is_asked_again"),
    [(b"", True), (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut!", False)],
)
async def test_a_connection_that_was_closed_meanwhile_is_replaced(
    closing: bytes, is_asked_again: bool
) -> None:
    """Without a byte of an answer the request is sent again, once; after one it is an error."""
    async with serving(ok(b"1"), closing, ok(b"2")) as server, transport_to(server) as transport:
        assert await ask(transport) == b"1"
        if not is_asked_again:
            with pytest.raises(UpstreamError, match="truncated"):
                await ask(transport)
        assert await ask(transport) == b"2"
    assert server.connections == 2


async def test_a_server_that_only_hangs_up_is_an_error() -> None:
    async with serving(b"", b"", b"") as server, transport_to(server) as transport:
        with pytest.raises(UpstreamError, match="no answer"):
            await ask(transport)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "ending",
    [
        head("Connection: close", "Content-Length: 1") + b"1",
        b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n1",
        ok(b"1") + ok(b"not asked for"),
    ],
    ids=lambda sent: repr(sent[:60]),
)
async def test_what_is_not_to_be_kept_is_not_kept(ending: bytes) -> None:
    """Nor a connection with unrequested bytes: their request is unknown."""
    async with serving(ending, ok(b"2")) as server, transport_to(server) as transport:
        assert [await ask(transport), await ask(transport)] == [b"1", b"2"]
    assert server.connections == 2


async def test_no_redirect_is_followed_and_no_cookie_is_kept() -> None:
    response_head = (
        "HTTP/1.1 307 Elsewhere\r\nLocation: /other\r\nSet-Cookie: a=b\r\nContent-Length: 0"
    )
    async with serving(f"{response_head}\r\n\r\n".encode(), ok(b"2")) as server:
        server.url = server.url.replace("127.0.0.1", "localhost")  # jars take none of addresses
        async with transport_to(server) as transport:
            with pytest.raises(HttpStatusError, match="307"):
                await ask(transport)
            assert await ask(transport) == b"2"
    assert all(request.startswith(b"POST / HTTP") for request in server.requests)
    assert b"Cookie" not in server.requests[-1]


@pytest.mark.parametrize("sent", [b"HTTP/1.1 200", head("Content-Length: 9"), head("a: b") + b"x"])
async def test_a_request_that_is_given_up_takes_its_connection_along(sent: bytes) -> None:
    async with (
        serving(ok(b"1"), sent, sent, ok(b"2")) as server,
        transport_to(server, timeout_s=0.1) as transport,
    ):
        assert await ask(transport) == b"1"
        with pytest.raises(AnswerTimeoutError):
            await ask(transport)
        asking = asyncio.create_task(ask(transport))
        await until(lambda: len(server.requests) == 3)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await ask(transport) == b"2"
        assert server.connections == 3
        assert server.open == 1
    await until(lambda: not server.open)


@pytest.mark.parametrize(
    "url", ["http://host:99999/", "http://us%3Aer:SECRET@host/", "http://[::1/"]
)
def test_an_address_that_cannot_be_asked_is_a_configuration_error(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        name_endpoint(url, source="here")
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://user:key@host.example/key", "host.example:443"),
        ("ws://[::1]:8546", "::1:8546"),
        ("HTTP://HOST:80/key", "host:80"),
    ],
)
def test_an_endpoint_is_named_by_host_and_port(url: str, name: str) -> None:
    assert name_endpoint(url, source="here") == name
