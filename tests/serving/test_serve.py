"""Protects the server: it answers, stops, shares no port, and ends after its admitted calls."""

import asyncio
import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from api.serving.serve import ServerEndedError, serve
from core.errors import ConfigError
from core.process.stop_signals import stop_on_signals
from sql.accounts.ledger import Ledger
from tests.harness.api.sample_reports import MINED_AT_S, TOKEN, TOKEN_SHOWN
from tests.harness.api.world import PLANS, World
from tests.house.sources import ROOT

HOST = "127.0.0.1"


@asynccontextmanager
async def serving(world: World, stop: asyncio.Event) -> AsyncIterator[httpx.AsyncClient]:
    """A server on a free port, and its client."""
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    server = asyncio.create_task(
        serve(world.make_app(), host=HOST, port=0, stop=stop, listening=port)
    )
    base_url = f"http://{HOST}:{await asyncio.wait_for(port, 10)}"
    async with httpx.AsyncClient(base_url=base_url) as client:
        yield client
    stop.set()
    await server


async def test_a_real_request_over_the_network(world: World) -> None:
    async with serving(world, asyncio.Event()) as client:
        response = await client.get(
            f"/token/ethereum/{TOKEN}", headers={"X-API-Key": world.new_key()}
        )
        assert response.status_code == 200
        assert response.json()["contract_address"] == TOKEN_SHOWN
        issued = await client.post("/agent-keys", json={"reason": "a"})
        assert issued.status_code == 200
        assert (await client.get("/nowhere")).json() == {"detail": "Not Found"}


@pytest.mark.parametrize("raw", ["%ff", "%00", "0x%C3%A9", "%ED%A0%80", "a" * 5000])
async def test_bytes_that_are_no_text_are_no_address(world: World, raw: str) -> None:
    async with serving(world, asyncio.Event()) as client:
        response = await client.get(f"/token/1/{raw}", headers={"X-API-Key": world.new_key()})
        assert (response.status_code, response.json()["error_code"]) == (422, "invalid_address")


async def test_a_call_under_way_is_answered_before_the_end(world: World) -> None:
    stop = asyncio.Event()
    world.analysis.gate.clear()
    async with serving(world, stop) as client:
        call = asyncio.create_task(
            client.get(f"/token/ethereum/{TOKEN}", headers={"X-API-Key": world.new_key()})
        )
        await world.analysis.was_asked.wait()
        stop.set()
        world.analysis.gate.set()
        assert (await call).status_code == 200


async def test_a_second_server_on_the_port_is_refused(world: World) -> None:
    async with serving(world, asyncio.Event()) as client:
        port = client.base_url.port or 0
        with pytest.raises(ConfigError, match=rf"127\.0\.0\.1:{port}: Address already in use"):
            await asyncio.wait_for(
                serve(world.make_app(), host=HOST, port=port, stop=asyncio.Event()), 10
            )


async def test_an_address_that_is_not_ours_is_refused(world: World) -> None:
    with pytest.raises(ConfigError, match=r"203\.0\.113\.1:0: Cannot assign"):
        await serve(world.make_app(), host="203.0.113.1", port=0, stop=asyncio.Event())


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
async def test_signals_stop_it(world: World, name: signal.Signals) -> None:
    stop = asyncio.Event()
    stop_on_signals(stop)
    try:
        async with serving(world, stop):
            os.kill(os.getpid(), name)
            await asyncio.wait_for(stop.wait(), 5)
    finally:
        for used in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().remove_signal_handler(used)


async def test_a_server_that_ends_by_itself_is_an_error(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def end_at_once(_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("granian.server.embed.Server.serve", end_at_once)
    with pytest.raises(ServerEndedError):
        await serve(world.make_app(), host=HOST, port=0, stop=asyncio.Event())


# --- stop ---------------------------------------------------------------------------------------

PATH = f"/token/1/{TOKEN}"

CALLERS = 4

MOST_S = 60


def start(path: Path) -> tuple["subprocess.Popen[str]", int]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.harness.api.served_process", str(path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def call_until_it_ends(base: str, key: str, answered: list[int]) -> None:
    """Call over one connection; a call that is cut off does not count."""
    with httpx.Client(base_url=base, headers={"X-API-Key": key}, timeout=MOST_S) as client:
        while True:
            try:
                answered.append(client.get(PATH).status_code)
            except httpx.TransportError:
                return


@pytest.mark.process
@pytest.mark.parametrize(("name", "plan"), [(signal.SIGTERM, "pro"), (signal.SIGINT, "admin")])
def test_under_load_no_count_is_lost_and_nothing_is_said(
    tmp_path: Path, name: signal.Signals, plan: str
) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger.open(path)
    new = ledger.create_key(PLANS[plan], "test", MINED_AT_S)
    process, port = start(path)
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
    answered: list[int] = []
    callers = [
        threading.Thread(
            target=call_until_it_ends, args=(f"http://127.0.0.1:{port}", new.plaintext, answered)
        )
        for _ in range(CALLERS)
    ]
    for caller in callers:
        caller.start()
    while len(answered) < 200:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(name)
    _, said = process.communicate(timeout=MOST_S)
    for caller in callers:
        caller.join(MOST_S)
    for connection in idle:
        connection.close()
    assert (process.returncode, said) == (0, "")
    let_in = sum(status == 200 for status in answered)
    assert set(answered) <= {200, 429}
    # A call may be counted and its answer cut off, one for each caller; none the other way round.
    counted = ledger.usage(new.row.key_id, MINED_AT_S).day
    assert let_in <= counted <= let_in + CALLERS
    ledger.close()
