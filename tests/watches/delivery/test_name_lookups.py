"""Protects everybody from names that resolve slowly: they wait in separate threads."""

import asyncio
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from api.watches.delivery import webhook_address
from api.watches.delivery.webhook_address import NameLookups

FAMILY = socket.AF_INET


class SlowResolver:
    """The system's resolver: names ending in .slow take until they are let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.requests = Counter[str]()
        self._lock = threading.Lock()
        self.most_at_once = 0
        self._at_once = 0

    def getaddrinfo(self, host: str, *_: object, **__: object) -> list[object]:
        with self._lock:
            self.requests[host] += 1
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            if host.endswith(".slow"):
                self.go.wait(30)
            if host.endswith(".none"):
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        finally:
            with self._lock:
                self._at_once -= 1
        return [(FAMILY, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 0))]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowResolver]:
    system = SlowResolver()
    monkeypatch.setattr(socket, "getaddrinfo", system.getaddrinfo)
    yield system
    system.go.set()


async def test_slow_names_take_no_thread_of_the_store(names: SlowResolver) -> None:
    lookups = NameLookups()
    waiting = [asyncio.create_task(lookups.find(f"{at}.slow", FAMILY)) for at in range(200)]
    await asyncio.sleep(0.1)
    begun_s = time.monotonic()
    await asyncio.gather(*(asyncio.to_thread(int) for _ in range(100)))
    assert time.monotonic() - begun_s < 5
    assert names.most_at_once == webhook_address._MOST_LOOKUPS
    # A cancelled caller does not wait for the system.
    for task in waiting:
        task.cancel()
    await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 5)
    await asyncio.wait_for(lookups.aclose(), 5)


async def test_an_answer_is_kept_for_a_minute_and_requests_for_once(
    names: SlowResolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookups = NameLookups()
    found = await asyncio.gather(*(lookups.find("a.test", FAMILY) for _ in range(20)))
    assert {one.address for addresses in found for one in addresses} == {"8.8.8.8"}
    await lookups.find("a.test", FAMILY)
    assert names.requests == {"a.test": 1}
    later_s = time.monotonic() + 61
    monkeypatch.setattr(time, "monotonic", lambda: later_s)
    await lookups.find("a.test", FAMILY)
    assert names.requests == {"a.test": 2}


async def test_a_failure_is_raised_and_not_kept(names: SlowResolver) -> None:
    lookups = NameLookups()
    for _ in range(2):
        with pytest.raises(socket.gaierror):
            await lookups.find("a.none", FAMILY)
    assert names.requests == {"a.none": 2}
