"""Protects the server inside our own event loop: it answers, it stops, it does not share a port."""

import asyncio
import errno
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from api.serving.serve import ServerEndedError, serve
from core.errors import ConfigError
from core.process.stop_signals import stop_on_signals
from tests.harness.api.sample_reports import TOKEN, TOKEN_SHOWN
from tests.harness.api.world import World

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
