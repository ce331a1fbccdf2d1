"""Protects callers from one another: connections of one network keep no other out."""

import asyncio
import re
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.serving import guarded_calls
from api.serving.connection_bounds import (
    Connection,
    ConnectionBounds,
    ConnectionCalls,
    choose_surplus,
    fit_files,
)
from api.serving.serve import serve
from sql.accounts.ledger import Ledger
from tests.harness.api.attackers import SHAPES, attacking, call_as_victim
from tests.harness.api.sample_reports import TOKEN
from tests.harness.api.world import PLANS, World
from tests.house.sources import ROOT

NOW_S = 1_000.0
MANY = min(5_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 200)
FILES = min(20_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
SERVER = "tests.harness.api.served_process"

KINDS = ("idle", "kept", "head", "form", "chunked", "slow")


@pytest.fixture
def served(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[int, str]]:
    """Port of a server in another process with that limit of open files, and a key."""
    files = getattr(request, "param", FILES)
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger.open(path)
    key = ledger.create_key(PLANS["admin"], "test", time.time()).plaintext
    ledger.close()
    process = subprocess.Popen(
        ["/bin/bash", "-c", f"ulimit -n {files}; exec {sys.executable} -m {SERVER} {path}"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    yield int(process.stdout.readline()), key
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 0


@pytest.mark.process
@pytest.mark.parametrize("served", [FILES, 1_024], indirect=True)
def test_5000_connections_of_one_network_keep_no_other_out(served: tuple[int, str]) -> None:
    port, key = served
    paths = {"/health": "", f"/token/1/{TOKEN}": key}
    with attacking(port, KINDS, MANY) as ends:
        for path, of_key in paths.items():
            load = call_as_victim(port, path, seconds=1, key=of_key)
            assert load.statuses == {200: 20}
            # Below 100 ms where nothing else runs (`python -m benchmarks.attack`).
            assert load.percentile_ms(99) < 8_000
    (end,) = ends
    assert end.opened >= MANY


@pytest.mark.process
def test_many_networks_keep_no_other_out(served: tuple[int, str]) -> None:
    port, _ = served
    sources = [f"127.0.{third}.{fourth}" for third in range(1, 41) for fourth in range(1, 101)]
    with attacking(port, ("idle", "form", "head"), 2_000, sources=sources):
        load = call_as_victim(port, "/health", seconds=1)
    assert load.statuses == {200: 20}


# --- the choice ---------------------------------------------------------------------------------


def connections(network: str | None, count: int, *, since_s: float = NOW_S) -> list[Connection]:
    """Connections of a network, one a second, the last at `since_s`."""
    return [
        Connection(
            file=at,
            inode=at,
            peer=(str(network), at),
            network=network,
            since_s=since_s - (count - 1 - at),
        )
        for at in range(count)
    ]


def choose(
    opened: list[Connection], bounds: ConnectionBounds, *busy: tuple[str, int]
) -> list[tuple[str, int, str]]:
    """Network, number and reason of what is closed."""
    calls = {peer: ConnectionCalls(running=1) for peer in busy}
    chosen = choose_surplus(opened, calls, bounds, now_s=NOW_S)
    return sorted((one.peer[0], one.peer[1], reason) for one, reason in chosen)


def test_a_network_keeps_its_newest_and_its_busy_connections() -> None:
    bounds = ConnectionBounds(most=100, of_network=3)
    opened = [*connections("a", 5), *connections("b", 3)]
    assert choose(opened, bounds) == [("a", 0, "network"), ("a", 1, "network")]
    assert choose(opened, bounds, ("a", 0)) == [("a", 1, "network"), ("a", 2, "network")]
    # Among busy ones those that came first stay.
    busy = [("a", at) for at in range(5)]
    assert choose(opened, bounds, *busy) == [("a", 3, "network"), ("a", 4, "network")]


def test_proxies_have_no_bound_and_leave_less_to_others() -> None:
    bounds = ConnectionBounds(most=40, of_network=10)
    assert choose(connections(None, 35), bounds) == []
    chosen = choose([*connections(None, 25), *connections("a", 8)], bounds)
    assert {network for network, _, _ in chosen} == {"a"}
    assert 3 <= len(chosen) <= 4


def test_a_full_server_gives_all_networks_the_same_smaller_share() -> None:
    bounds = ConnectionBounds(most=40, of_network=16)
    opened = [*connections("a", 16), *connections("b", 16), *connections("c", 2)]
    chosen = choose(opened, bounds)
    assert {reason for _, _, reason in chosen} == {"crowded"}
    assert [network for network, _, _ in chosen].count("a") == 8
    assert [network for network, _, _ in chosen].count("b") == 8
    assert not [one for one in chosen if one[0] == "c"]


def test_among_too_many_networks_the_oldest_idle_connection_goes() -> None:
    bounds = ConnectionBounds(most=40, of_network=16)
    opened = [*(connections(str(at), 1, since_s=NOW_S - at)[0] for at in range(1, 36))]
    chosen = choose(opened, bounds, ("35", 0))
    assert sorted(int(network) for network, _, _ in chosen) == [30, 31, 32, 33, 34]


def test_a_connection_whose_answer_is_not_read_is_closed() -> None:
    bounds = ConnectionBounds(most=40, of_network=16)
    opened = connections("a", 1, since_s=NOW_S - 200)
    assert choose(opened, bounds) == [("a", 0, "stuck")]
    assert choose(opened, bounds, ("a", 0)) == []
    calls = {("a", 0): ConnectionCalls(ended_s=NOW_S - 60)}
    assert choose_surplus(opened, calls, bounds, now_s=NOW_S) == []


# --- files --------------------------------------------------------------------------------------


def test_the_limit_of_open_files_is_raised_and_bounds_the_connections() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 700), hard))
        fitted = fit_files(ConnectionBounds(most=10**6))
        raised = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        assert raised == min(hard, 65_536)
        assert raised - 1_000 < fitted.most < raised - 500
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_limit_that_is_too_low_stops_the_start() -> None:
    done = subprocess.run(
        ["/bin/bash", "-c", "ulimit -n 96; exec assay serve --port 0"],
        env={
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "ASSAY_RPC_1": "http://127.0.0.1:9",
        },
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert re.search(
        r"open files: ulimit -n: the hard limit is 96, and .* at least \d+", done.stderr
    )


# --- bodies and streams on a real socket --------------------------------------------------------


async def exchange(port: int, sent: bytes) -> bytes:
    """Send bytes; return all that comes until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    try:
        return await asyncio.wait_for(reader.read(), 10)
    finally:
        writer.close()


@pytest.mark.parametrize("kind", ["form", "chunked"])
async def test_a_body_that_does_not_come_is_refused_in_time(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(guarded_calls, "BODY_WITHIN_S", 0.2)
    stop = asyncio.Event()
    listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    server = asyncio.create_task(
        serve(world.make_app(), host="127.0.0.1", port=0, stop=stop, listening=listening)
    )
    port = await listening
    answer = await exchange(port, SHAPES[kind])
    assert answer.startswith(b"HTTP/1.1 408 ")
    stop.set()
    await server


async def test_half_sent_bodies_do_not_delay_the_end(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded_calls, "BODY_WITHIN_S", 1.0)
    stop = asyncio.Event()
    listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    server = asyncio.create_task(
        serve(world.make_app(), host="127.0.0.1", port=0, stop=stop, listening=listening)
    )
    port = await listening
    opened = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
    for one in opened:
        one.send(SHAPES["form"])
    await asyncio.sleep(0.1)
    stop.set()
    await asyncio.wait_for(server, 5)
    for one in opened:
        one.close()
