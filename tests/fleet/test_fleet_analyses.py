"""Protects the analyses of a real fleet: two processes that analyse and serve, on one PostgreSQL
and one Valkey, and a node that can be far away."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec
import psycopg
import pytest

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.demo.world import build_world
from config.plans import load_plans
from core.evm.primitives import checksum
from sql.accounts.ledger import Ledger
from tests.harness.chain.assay_process import running, until
from tests.harness.parts.empty_databases import address_of
from tests.harness.parts.free_ports import free_port
from tests.harness.parts.postgres_server import running_postgres
from tests.harness.parts.tcp_proxy import TcpProxy, proxied
from tests.harness.parts.valkey_server import ValkeyServer, running_valkey

pytestmark = [pytest.mark.process, pytest.mark.fleet]

SETTINGS = """
[analysis]
wait_s = 20.0
rounds_every_s = 3600.0
"""
"""Callers wait for a take-over, and there are no background analyses."""


class ServedFleet(msgspec.Struct):
    """The processes, and the way to them."""

    world: World
    node: TcpProxy
    valkey: ValkeyServer
    database: str
    urls: tuple[str, ...]
    pids: tuple[int, ...]
    key: str

    async def ask(self, process: int, token: str, query: str = "") -> dict[str, Any]:
        """The answer of one of the processes."""
        address = checksum(self.world.token(token).address)
        headers = {"X-API-Key": self.key}
        async with httpx.AsyncClient(timeout=40, headers=headers) as client:
            sent = await client.get(f"{self.urls[process]}/token/ethereum/{address}{query}")
        assert sent.is_success, sent.text
        answer: dict[str, Any] = sent.json()
        return answer

    def analyses(self) -> int:
        """Return the number of ended analyses, in all processes."""
        found = 0.0
        for url in self.urls:
            lines = httpx.get(f"{url}/metrics").text.splitlines()
            found += sum(
                float(line.rpartition(" ")[2])
                for line in lines
                if line.startswith("assay_analysis_seconds_count{")
            )
        return int(found)

    async def holder_of(self, token: str) -> int:
        """Return the id of the process that analyses a token, once one does."""
        address = bytes.fromhex(self.world.token(token).address[2:])
        query = "select holder from analysis_run where address = %s and holder is not null"
        async with asyncio.timeout(20):
            while True:
                with psycopg.connect(self.database) as connection:
                    row = connection.execute(query, (address,)).fetchone()
                if row is not None:
                    return int(row[0].split()[1])
                await asyncio.sleep(0.02)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedFleet]:
    folder = tmp_path_factory.mktemp("fleet")
    with ExitStack() as stack:
        node = stack.enter_context(AnvilNode())
        world = build_world(node)
        write_overlay(world, folder, more=SETTINGS)
        far = stack.enter_context(proxied(urlsplit(node.url).port or 0))
        postgres = stack.enter_context(running_postgres())
        valkey = stack.enter_context(running_valkey())
        env = {
            "ASSAY_RPC_1": f"http://127.0.0.1:{far.port}",
            "ASSAY_CONFIG": str(folder),
            "ASSAY_STORE": postgres.url(),
            "ASSAY_LAKE": str(folder / "lake"),
            "ASSAY_REDIS": valkey.url,
        }
        with closing(Ledger.of_store(address_of(postgres.url(), path=folder / "files"))) as ledger:
            key = ledger.create_key(load_plans()["admin"], "test", time.time()).plaintext
        roles = ("--role", "analyse", "--role", "api")
        urls, pids = [], []
        for _ in range(2):
            port = free_port()
            process = stack.enter_context(running("serve", *roles, "--port", str(port), env=env))
            urls.append(f"http://127.0.0.1:{port}")
            pids.append(process.pid)
        for url in urls:
            until(lambda url=url: is_answering(url) or None)  # type: ignore[misc]  # lambdas have no types
        yield ServedFleet(
            world=world,
            node=far,
            valkey=valkey,
            database=postgres.url(),
            urls=tuple(urls),
            pids=tuple(pids),
            key=key,
        )


def scanned_at(answer: dict[str, Any]) -> str:
    return str(answer["features"]["last_scanned_at"])


def is_answering(url: str) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(f"{url}/health").status_code == 200
    return False


async def test_one_token_asked_for_at_two_processes_is_analysed_once(fleet: ServedFleet) -> None:
    before = fleet.analyses()
    answers = await asyncio.gather(fleet.ask(0, "honest"), fleet.ask(1, "honest"))
    assert answers[0] == answers[1]
    assert answers[0]["features"]["dex"]
    assert fleet.analyses() == before + 1
    assert await fleet.ask(0, "honest") == answers[0]
    assert fleet.analyses() == before + 1


@pytest.mark.parametrize("is_valkey_there", [True, False])
async def test_a_new_report_is_served_by_the_other_process_within_a_second(
    fleet: ServedFleet, *, is_valkey_there: bool
) -> None:
    if not is_valkey_there:
        fleet.valkey.kill()
    old = await fleet.ask(0, "sell_tax")
    assert await fleet.ask(1, "sell_tax") == old
    await asyncio.sleep(1.1)  # its time is in whole seconds
    new = await fleet.ask(0, "sell_tax", "?refresh=true")
    assert scanned_at(new) > scanned_at(old)
    await asyncio.sleep(1.0)
    assert scanned_at(await fleet.ask(1, "sell_tax")) == scanned_at(new)
    if not is_valkey_there:
        fleet.valkey.start()


async def test_whoever_waits_is_answered_although_the_process_that_judges_is_killed(
    fleet: ServedFleet,
) -> None:
    """The last test: it leaves one process."""
    fleet.node.delay(0.3)
    waiting = [asyncio.create_task(fleet.ask(at, "buy_tax")) for at in range(2)]
    holder = await fleet.holder_of("buy_tax")
    os.kill(holder, signal.SIGKILL)
    killed_at_s = time.monotonic()
    fleet.node.delay(0.0)
    dead = fleet.pids.index(holder)
    with pytest.raises(httpx.TransportError):
        await waiting[dead]
    answer = await waiting[1 - dead]
    assert answer["features"]["dex"]
    assert time.monotonic() - killed_at_s < 15
