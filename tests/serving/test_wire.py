"""Protects the socket and its headers: no fault by any bytes, allowed sites, and packed bodies."""

import asyncio
import gzip
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx
import msgspec
import pytest

from api.serving.cached_answer import CachedAnswer
from api.serving.packing import CODINGS, Coding, choose_coding, compress, pack, unless_known
from api.serving.serve import serve
from config.settings import ApiSettings
from core.process import zstd
from tests.harness.api.sample_reports import TOKEN, TOKEN_SHOWN
from tests.harness.api.world import World

HOST = "127.0.0.1"

PATH = f"/token/1/{TOKEN}"

WAIT_S = 10.0

Send = Callable[[bytes], Awaitable[bytes]]


@pytest.fixture
async def port(world: World) -> AsyncIterator[int]:
    """Port of a real server."""
    stop = asyncio.Event()
    listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    server = asyncio.create_task(
        serve(world.make_app(), host=HOST, port=0, stop=stop, listening=listening)
    )
    yield await asyncio.wait_for(listening, WAIT_S)
    stop.set()
    await server


@pytest.fixture
def send(port: int) -> Send:
    """Send bytes, give back all that comes until the server ends the connection."""

    async def exchange(sent: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(HOST, port)
        try:
            writer.write(sent)
            async with asyncio.timeout(WAIT_S):
                return await reader.read()
        finally:
            writer.close()

    return exchange


def answer_of(raw: bytes) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the one answer in the bytes."""
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return int(first.split()[1]), headers, body


def call(target: str, *, method: str = "GET", version: str = "1.1", headers: str = "") -> bytes:
    """A call without a body, after which the connection ends."""
    host = "" if version == "1.0" else "Host: assay.test\r\nConnection: close\r\n"
    return f"{method} {target} HTTP/{version}\r\n{host}{headers}\r\n".encode("latin-1")


def post(head: str, body: bytes) -> bytes:
    """An attempt at a trial key, with the headers named."""
    return (
        f"POST /agent-keys HTTP/1.1\r\nHost: assay.test\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\n{head}\r\n\r\n"
    ).encode("latin-1") + body


@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_both_versions_of_http_are_answered(world: World, send: Send, version: str) -> None:
    key = f"X-API-Key: {world.new_key()}\r\n"
    status, _, body = answer_of(await send(call(PATH, version=version, headers=key)))
    assert (status, msgspec.json.decode(body)["contract_address"]) == (200, TOKEN_SHOWN)


KEYED = [
    # target, more headers, status, error_code (or None: a body with a detail)
    ("/token/1/" + "a" * 12_000, "", 422, "invalid_address"),
    ("/token/1/%FF%00%ED%A0%80", "", 422, "invalid_address"),
    ("/token/%FF/x", "", 422, None),
    ("/token/" + "1" * 10_000 + "/x", "", 422, None),
    (f"{PATH}?response_format=%ff", "", 422, None),
    (f"{PATH}?refresh", "", 422, None),
    (f"{PATH}?response_format=native&response_format=xml", "", 422, None),
    ("/token/../../etc/passwd/x", "", 404, None),
    ("/" + "/".join("a" * 5_000), "", 404, None),
    (f"{PATH}/evidence/more", "", 404, None),
]


@pytest.mark.parametrize(("target", "headers", "status", "code"), KEYED)
async def test_an_odd_call_is_refused_in_json(
    world: World, send: Send, target: str, headers: str, status: int, code: str | None
) -> None:
    raw = await send(call(target, headers=f"X-API-Key: {world.new_key()}\r\n{headers}"))
    got, sent, body = answer_of(raw)
    answer_body = msgspec.json.decode(body)
    assert (got, sent["content-type"]) == (status, "application/json")
    assert answer_body["error_code"] == code if code else list(answer_body) == ["detail"]
    assert world.analysis.requests == []


SAME = [
    call(PATH.replace("/1/0", "/%31/%30")),
    call(f"http://elsewhere.test{PATH}"),
    call(f"{PATH}?%&=&&x=" + "a" * 12_000),
    call(f"{PATH}?response_format=compat&response_format=native"),
    call(PATH, headers="".join(f"x-{at}: a\r\n" for at in range(90))),
    call(PATH, headers=f"x-a: {'a' * 12_000}\r\n"),
    call(PATH, headers="Accept-Encoding: \xff\r\nIf-None-Match: \xff\r\nCookie: \xff=\xff;\r\n"),
    call(PATH, headers="Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"),
    call(PATH, headers="Content-Length: 3\r\n") + b"abc",
]


@pytest.mark.parametrize("sent", SAME)
async def test_what_is_odd_but_allowed_gets_the_same_answer(
    world: World, send: Send, sent: bytes
) -> None:
    key = f"X-API-Key: {world.new_key()}\r\n"
    keyed = sent.replace(b"\r\n", b"\r\n" + key.encode(), 1)
    assert answer_of(await send(keyed))[2] == answer_of(await send(call(PATH, headers=key)))[2]


@pytest.mark.parametrize("key", ["\xff\xfe", "a" * 12_000, "tsk_live_\t", "' or 1=1 --"])
async def test_an_odd_key_is_an_unknown_one(send: Send, key: str) -> None:
    status, _, body = answer_of(await send(call(PATH, headers=f"X-API-Key: {key}\r\n")))
    assert (status, body) == (401, b'{"detail":"Unknown API key."}')


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "TRACE", "BREW"])
async def test_another_method_is_told_which_are_allowed(send: Send, method: str) -> None:
    status, headers, body = answer_of(await send(call(PATH, method=method)))
    assert (status, headers["allow"]) == (405, "get, head, options")
    assert body == b'{"detail":"Method Not Allowed"}'


@pytest.mark.parametrize("target", [PATH, f"{PATH}/summary", "/health", "/nowhere", "/agent-keys"])
async def test_a_head_is_sent_alone_and_the_connection_goes_on(
    world: World, send: Send, target: str
) -> None:
    """A server that sent the body too would have the next call read it as its answer."""
    key = f"X-API-Key: {world.new_key()}\r\n"
    status, headers, _ = answer_of(await send(call(target, headers=key)))
    head = call(target, method="HEAD", headers=key).replace(b"Connection: close\r\n", b"")
    first, second, third = (await send(head * 2 + call("/nowhere"))).split(b"HTTP/1.1 ")[1:]
    for part in (first, second):
        got, sent, body = answer_of(b"HTTP/1.1 " + part)
        assert (got, body) == (status, b"")
        assert int(sent["content-length"]) == int(headers["content-length"]) > 0
        assert sent.get("etag") == headers.get("etag")
    assert third.startswith(b"404")


NOT_JSON = [
    ("Transfer-Encoding: chunked", b"0\r\n\r\n"),
    ("Content-Length: 0", b""),
    ("Content-Length: 2", b"\xff\xfe"),
    ("Content-Length: 10000", b"[" * 10_000),
    ("Content-Length: 12000", b'{"a":' * 2_400),
    ("Content-Length: 9", b'{"reason"'),
]


@pytest.mark.parametrize(("head", "body"), NOT_JSON)
async def test_a_body_that_is_no_json(send: Send, head: str, body: bytes) -> None:
    status, _, answer_body = answer_of(await send(post(head, body)))
    assert (status, answer_body) == (400, b'{"detail":"The body is not JSON."}')


@pytest.mark.parametrize("body", [b"zz\r\n", b"fffffffffffffffffffffff\r\n"])
async def test_a_body_that_is_no_chunked_one(send: Send, body: bytes) -> None:
    status, _, answer_body = answer_of(await send(post("Transfer-Encoding: chunked", body)))
    assert (status, answer_body) == (400, b'{"detail":"The body is incomplete."}')


@pytest.mark.parametrize("head", ["Content-Length: 20000", "Content-Length: 99999999999"])
async def test_a_body_that_is_too_large_is_not_read(send: Send, head: str) -> None:
    status, _, answer_body = answer_of(await send(post(head, b"a" * 20_000)))
    assert (status, answer_body) == (413, b'{"detail":"Request Entity Too Large"}')


async def test_a_body_that_does_not_come_is_cut_off(
    send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.serving.guarded_calls.BODY_WITHIN_S", 0.1)
    status, _, answer_body = answer_of(await send(post("Content-Length: 100", b'{"rea')))
    assert status == 408
    assert answer_body == b'{"detail":"The body did not arrive within 0.1 seconds."}'


async def test_a_body_in_pieces_is_put_together(send: Send) -> None:
    pieces = b'5\r\n{"rea\r\n9\r\nson":"a"}\r\n0\r\n\r\n'
    status, _, answer_body = answer_of(await send(post("Transfer-Encoding: chunked", pieces)))
    assert (status, msgspec.json.decode(answer_body)["plan"]) == (200, "trial")


NOT_HTTP = [
    (b"\x16\x03\x01\x00 a TLS greeting\r\n\r\n", 400),
    (b"GET /health\r\n\r\n", 400),
    (call("/token/\xff/x"), 400),
    (post("Content-Length: 4\r\nContent-Length: 5", b"abcd"), 400),
    (post("Content-Length: -4", b""), 400),
    (call("/health", headers="x y: a\r\n"), 400),
    (call("/health", version="2.0"), 400),
    (call("/" + "a" * 20_000), 431),
    (call(PATH, headers=f"X-API-Key: {'a' * 20_000}\r\n"), 431),
    (call("/health", headers="".join(f"x-{at}: a\r\n" for at in range(1_000))), 431),
    (call("/health", headers=f"x-a: {'a' * 1_000_000}\r\n"), 431),
]


@pytest.mark.parametrize(("sent", "status"), NOT_HTTP)
async def test_what_is_no_http_is_ended_by_the_server(send: Send, sent: bytes, status: int) -> None:
    """The one place without a body: the bytes never become a call, so no application sees them."""
    got, _, body = answer_of(await send(sent))
    assert (got, body) == (status, b"")


async def test_http_2_is_not_spoken(send: Send) -> None:
    assert await send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0") == b""


async def test_calls_sent_at_once_are_answered_in_turn(world: World, send: Send) -> None:
    key = f"X-API-Key: {world.new_key()}\r\n"
    kept = call(PATH, headers=key).replace(b"Connection: close\r\n", b"")
    last = call("/nowhere", headers=key)
    raw = await send(kept * 20 + last)
    assert [part[:3] for part in raw.split(b"HTTP/1.1 ")[1:]] == [b"200"] * 20 + [b"404"]
    assert len(world.analysis.requests) == 1


REFUSED = [
    (call("/nowhere"), b"404"),
    (call(PATH), b"401"),
    (call(PATH, method="PUT", headers="Content-Length: 3\r\n") + b"abc", b"405"),
    (call("/token/9/0x"), b"422"),
    (post("Content-Length: 3", b"{a}"), b"400"),
    (post("Transfer-Encoding: chunked", b"2\r\n{}\r\n0\r\n\r\n"), b"422"),
    (call("/health", method="OPTIONS"), b"204"),
]


async def test_a_connection_goes_on_after_a_refusal(world: World, send: Send) -> None:
    """Each refusal twice on one connection, bodies and all, then a call that is answered."""
    key = f"X-API-Key: {world.new_key()}\r\n"
    for refused, status in REFUSED:
        keyed = refused if status == b"401" else refused.replace(b"\r\n", b"\r\n" + key.encode(), 1)
        kept = keyed.replace(b"Connection: close\r\n", b"")
        raw = await send(kept * 2 + call("/health"))
        assert [part[:3] for part in raw.split(b"HTTP/1.1 ")[1:]] == [status, status, b"200"]


async def test_slow_callers_keep_nobody_else_waiting(send: Send, port: int) -> None:
    """A hundred that never end their call, and one that does."""
    slow = [await asyncio.open_connection(HOST, port) for _ in range(100)]
    for _, writer in slow[:50]:
        writer.write(b"GET /health HTTP/1.1\r\nHost: a\r\nx-a:")
    for _, writer in slow[50:]:
        writer.write(post("Content-Length: 100", b'{"rea'))
    started = time.monotonic()
    assert answer_of(await send(call("/health")))[0] == 200
    assert time.monotonic() - started < WAIT_S / 2
    for _, writer in slow:
        writer.close()


async def test_a_caller_who_leaves_in_the_middle_harms_nobody(
    world: World, send: Send, port: int
) -> None:
    key = f"X-API-Key: {world.new_key()}\r\n"
    world.analysis.gate.clear()
    for sent in (call(PATH, headers=key), post("Content-Length: 100", b'{"rea')):
        _, writer = await asyncio.open_connection(HOST, port)
        writer.write(sent)
        await writer.drain()
        await asyncio.wait_for(world.analysis.was_asked.wait(), WAIT_S)
        writer.transport.abort()
    world.analysis.gate.set()
    assert answer_of(await send(call(PATH, headers=key)))[0] == 200
    assert len(world.analysis.requests) == 1


# --- cors ---------------------------------------------------------------------------------------

WALLET, OTHER = "https://wallet.test", "https://other.test"

PREFLIGHT = {
    "Access-Control-Request-Method": "GET",
    "Access-Control-Request-Headers": "x-api-key",
}


def client_of(world: World, *origins: str) -> httpx.AsyncClient:
    return world.client(settings=ApiSettings(cors_origins=origins))


def opened(response: httpx.Response) -> dict[str, str]:
    """Return the headers by which a browser decides on access."""
    return {
        name.removeprefix("access-control-"): value
        for name, value in response.headers.items()
        if name.startswith("access-control-")
    }


@pytest.mark.parametrize("path", [PATH, "/agent-keys", "/nowhere"])
async def test_no_site_may_call_unless_it_is_named(world: World, path: str) -> None:
    for client in (client_of(world), client_of(world, WALLET)):
        preflight = await client.options(path, headers={"Origin": OTHER, **PREFLIGHT})
        assert opened(preflight) == {}
        assert opened(await client.get(path, headers={"Origin": OTHER})) == {}


@pytest.mark.parametrize(
    ("origins", "allowed"), [((WALLET,), WALLET), ((OTHER, WALLET), WALLET), (("*",), "*")]
)
async def test_a_named_site_may_send_its_key(
    world: World, origins: tuple[str, ...], allowed: str
) -> None:
    """Checked before the call, without the key; on each answer, from memory and refusals too."""
    client = client_of(world, *origins)
    preflight = await client.options(PATH, headers={"Origin": WALLET, **PREFLIGHT})
    assert (preflight.status_code, preflight.content) == (204, b"")
    assert opened(preflight)["allow-origin"] == allowed
    assert {"x-api-key", "content-type"} <= set(opened(preflight)["allow-headers"].split(", "))
    assert opened(preflight)["allow-methods"] == "GET, HEAD, POST, DELETE"
    key = {"X-API-Key": world.new_key("trial")}
    for call in range(6):
        response = await client.get(PATH, headers={"Origin": WALLET, **key})
        assert response.status_code == (429 if call == 5 else 200)
        assert opened(response)["allow-origin"] == allowed
        assert {"Retry-After", "X-RateLimit-Burst-Limit", "X-API-Key-Expires-At"} <= set(
            opened(response)["expose-headers"].split(", ")
        )
        assert ("origin" in response.headers.get_list("vary", split_commas=True)) is (
            allowed != "*"
        )
    refused = await client.get(PATH, headers={"Origin": WALLET})
    assert (refused.status_code, opened(refused)["allow-origin"]) == (401, allowed)


async def test_cookies_are_never_for_other_sites(world: World) -> None:
    client = client_of(world, "*")
    for response in (
        await client.options("/dashboard", headers={"Origin": WALLET, **PREFLIGHT}),
        await client.get("/dashboard", headers={"Origin": WALLET}),
    ):
        assert "allow-credentials" not in opened(response)


async def test_options_without_an_origin_names_methods(world: World) -> None:
    response = await client_of(world, "*").options(PATH)
    assert (response.status_code, response.headers["allow"]) == (204, "GET, HEAD, OPTIONS")


# --- packing ------------------------------------------------------------------------------------

BODY = b'{"features":' + b"[1,2,3]" * 1_000 + b"}"


@pytest.mark.parametrize(
    ("header", "coding"),
    [
        ("", None),
        ("identity", None),
        ("br", None),
        ("gzip", "gzip"),
        ("GZIP", "gzip"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip;q=1.0, zstd;q=0.5", "gzip"),
        ("zstd;q=0, gzip", "gzip"),
        ("gzip;q=0", None),
        ("gzip ; q=0.3 , identity;q=0.9", None),
        ("*", "zstd"),
        ("*;q=0", None),
        ("zstd;q=0, *", "gzip"),
        ("gzip;q=high", None),
        ("gzip;level=9", "gzip"),
        (",, ;", None),
    ],
)
def test_the_coding_a_caller_likes_best(header: str, coding: Coding | None) -> None:
    assert choose_coding(header.encode()) == coding


def unpack(answer: CachedAnswer) -> bytes:
    if (b"content-encoding", b"gzip") in answer.headers:
        return gzip.decompress(answer.body)
    return zstd.decompress(answer.body)


@pytest.mark.parametrize("coding", CODINGS)
def test_a_compressed_answer_is_the_same_answer(coding: Coding) -> None:
    plain = pack(200, BODY)
    packed = compress(plain, coding)
    assert unpack(packed) == BODY
    assert packed.tag == plain.tag
    headers = dict(packed.headers)
    assert headers[b"content-length"] == str(len(packed.body)).encode()
    assert headers[b"vary"] == b"accept-encoding"
    assert compress(plain, coding) == packed  # byte by byte, whenever it is made


def test_other_bytes_have_another_tag_and_a_refusal_has_none() -> None:
    assert pack(200, BODY).tag == pack(200, BODY).tag
    assert pack(200, BODY).tag != pack(200, BODY + b" ").tag
    refusal = pack(422, b"{}")
    assert refusal.tag is None
    assert refusal.headers == ((b"content-type", b"application/json"), (b"content-length", b"2"))


@pytest.mark.parametrize(
    ("form", "is_known"),
    [
        ("W/{tag}", True),
        ("{tag}", True),  # a weak comparison
        ('"other", W/{tag}', True),
        ("*", True),
        ('W/"other"', False),
        ("", False),
    ],
)
def test_what_the_caller_has_is_not_sent_again(form: str, is_known: bool) -> None:
    plain = pack(200, BODY)
    assert plain.tag is not None
    answer = unless_known(plain, form.format(tag=plain.tag.decode()).encode())
    assert (answer.status, answer.body) == ((304, b"") if is_known else (200, BODY))
    assert (b"etag", b"W/" + plain.tag) in answer.headers
    assert unless_known(pack(422, b"{}"), b"*").status == 422
    assert unless_known(plain, None) is plain
