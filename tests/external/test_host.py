"""One outside service: good answers are accepted, faults are timely, outages end requests."""

import asyncio
import time
from collections.abc import Callable

import aiohttp
import msgspec
import pytest
from aiohttp import web

from analysis.external.host import CircuitBreaker, HttpService
from core.errors import UpstreamError
from tests.harness.external.outside_service import Service


class Body(msgspec.Struct):
    value: int


def make_host(
    session: aiohttp.ClientSession, url: str, *, per_minute: int = 6_000, cache_s: float = 60.0
) -> HttpService:
    return HttpService(
        session, "Somebody", url, per_minute=per_minute, timeout_s=0.3, cache_s=cache_s
    )


async def test_an_answer_is_decoded_and_asked_for_once(
    service: Service, session: aiohttp.ClientSession
) -> None:
    service.says({"value": 7, "more": "is left out"})
    host = make_host(session, service.url)
    answers = await asyncio.gather(*(host.get("/a", Body, q="x y") for _ in range(20)))
    assert {answer.value for answer in answers if answer} == {7}
    assert service.requests == ["/a?q=x+y"]


async def test_an_answer_is_forgotten_in_time(
    service: Service, session: aiohttp.ClientSession
) -> None:
    service.says({"value": 7})
    host = make_host(session, service.url, cache_s=0.05)
    await host.get("/a", Body)
    await asyncio.sleep(0.1)
    await host.get("/a", Body)
    assert len(service.requests) == 2


async def test_not_found_is_an_answer(service: Service, session: aiohttp.ClientSession) -> None:
    host = make_host(session, service.url)
    for at in range(20):
        assert await host.get(f"/{at}", Body) is None
    assert len(service.requests) == 20


async def _hang(_: web.Request) -> web.StreamResponse:
    await asyncio.sleep(5)
    return web.Response()


async def _drip(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(50):
        await response.write(b" ")
        await asyncio.sleep(0.05)
    return response


async def _cut_off(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"value"')
    assert request.transport is not None
    request.transport.close()
    return response


async def _flood(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(40):
        await response.write(b" " * 2**20)
    return response


async def _elsewhere(_: web.Request) -> web.StreamResponse:
    raise web.HTTPFound("http://192.0.2.1/")


FAULTS: dict[str, Callable[[Service], None]] = {
    "refusal": lambda service: service.says({}, status=429),
    "its own failure": lambda service: service.says({"value": 7}, status=500),
    "another shape": lambda service: service.says({"value": "seven"}),
    "no JSON": lambda service: service.says_text("<html>sorry</html>"),
    "bytes that are no text": lambda service: service.says_text(
        "\udcff".encode("utf-8", "surrogatepass").decode("latin-1")
    ),
    "nothing": lambda service: service.says_text(""),
    "deep nesting": lambda service: service.says_text("[" * 100_000),
    "a redirect": lambda service: setattr(service, "answer", _elsewhere),
    "silence": lambda service: setattr(service, "answer", _hang),
    "one byte at a time": lambda service: setattr(service, "answer", _drip),
    "half an answer": lambda service: setattr(service, "answer", _cut_off),
    "too much": lambda service: setattr(service, "answer", _flood),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_is_told_in_time(
    fault: str, service: Service, session: aiohttp.ClientSession
) -> None:
    FAULTS[fault](service)
    host = make_host(session, service.url)
    with pytest.raises(UpstreamError, match="Somebody"):
        await asyncio.wait_for(host.get("/a", Body), 3)


async def test_a_fault_is_not_kept(service: Service, session: aiohttp.ClientSession) -> None:
    service.says({}, status=500)
    host = make_host(session, service.url)
    with pytest.raises(UpstreamError):
        await host.get("/a", Body)
    service.says({"value": 7})
    answer = await host.get("/a", Body)
    assert answer is not None
    assert answer.value == 7


async def test_who_is_down_is_left_alone_and_asked_again_later(
    service: Service, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.says({}, status=500)
    host = make_host(session, service.url)
    for at in range(20):
        with pytest.raises(UpstreamError):
            await host.get(f"/{at}", Body)
    assert len(service.requests) == 5
    service.says({"value": 7})
    later_s = time.monotonic() + 31
    monkeypatch.setattr(host._breaker, "_monotonic_s", lambda: later_s)
    assert await host.get("/later", Body) is not None


async def test_the_limit_of_the_service_is_kept_without_waiting(
    service: Service, session: aiohttp.ClientSession
) -> None:
    service.says({"value": 7})
    host = make_host(session, service.url, per_minute=60)
    outcomes = await asyncio.gather(
        *(host.get(f"/{at}", Body) for at in range(50)), return_exceptions=True
    )
    assert len(service.requests) == 10
    assert sum(isinstance(outcome, UpstreamError) for outcome in outcomes) == 40


async def test_no_key_is_told(service: Service, session: aiohttp.ClientSession) -> None:
    service.says({}, status=500)
    host = make_host(session, service.url)
    with pytest.raises(UpstreamError) as caught:
        await host.get("", Body, apikey="SECRET")
    assert "SECRET" not in str(caught.value)
    gone = make_host(session, "http://127.0.0.1:1")
    with pytest.raises(UpstreamError) as caught:
        await gone.get("", Body, apikey="SECRET")
    assert "SECRET" not in str(caught.value)


# --- circuit breaker ----------------------------------------------------------------------------

OPEN_S = 30.0


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.mark.parametrize(
    ("story", "is_open"),
    [
        ("", False),
        ("ff", False),
        ("fff", True),
        ("fffff", True),
        ("ffsff", False),
        ("ffsfff", True),
        ("fff.", False),  # the pause is over: a new request
        ("fff.f", True),  # and left alone again at the first failure
        ("fff.s", False),
        ("fff.sff", False),
        ("fff.sfff", True),
    ],
)
def test_three_failures_in_a_row_open_it(story: str, is_open: bool) -> None:
    clock = Clock()
    breaker = CircuitBreaker(failures=3, open_s=OPEN_S, monotonic_s=clock)
    for step in story:
        match step:
            case "f":
                breaker.note_failure()
            case "s":
                breaker.note_success()
            case _:
                clock.now_s += OPEN_S
    assert breaker.is_open is is_open
