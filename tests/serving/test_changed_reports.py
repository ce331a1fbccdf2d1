"""Protects caches of one process from outliving the writes of another."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path

import pytest

from api.serving.changed_reports import ChangedReports
from assay.service.fleet.fleet_messages import FleetMessages
from assay.service.record_report import NextRefresh, record_report
from core.evm.primitives import Address
from core.process.secret import Secret
from sql.engine.postgres.single_statements import SingleStatements
from sql.engine.store import Store
from sql.fleet.report_change_feed import ReportChanges
from tests.harness.bare_reports import bare_report
from tests.harness.parts.empty_databases import EmptyDatabases, connect_store
from tests.harness.parts.postgres_server import PostgresServer
from tests.harness.parts.tcp_proxy import proxied
from tests.harness.parts.valkey_server import running_valkey

pytestmark = pytest.mark.fleet

TOKEN = Address("0x" + "ab" * 20)
NEXT = NextRefresh(worth=0, due_s=0)


class Memory:
    """Records the entries to forget."""

    def __init__(self) -> None:
        self.forgotten: list[tuple[str, str]] = []
        self.times_emptied = 0

    def forget(self, chain: str, address: str) -> None:
        self.forgotten.append((chain, address))

    def forget_all(self) -> None:
        self.times_emptied += 1


@pytest.fixture
def url(empty_databases: EmptyDatabases) -> Iterator[str]:
    with empty_databases.lent() as found:
        yield found


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[Store]:
    with closing(connect_store(url, path=tmp_path / "files")) as found:
        yield found


@asynccontextmanager
async def looking(url: str, memory: Memory) -> AsyncIterator[None]:
    """A process that compares the numbers of changes."""
    stop = asyncio.Event()
    with closing(SingleStatements(url)) as statements:
        changed = ChangedReports(ReportChanges(statements, [1]), memory, chains={"ethereum": 1})
        task = asyncio.create_task(changed.run(stop))
        try:
            yield
        finally:
            stop.set()
            await task


async def until(memory: Memory, *, emptied: int = 1, forgotten: int = 0) -> None:
    async with asyncio.timeout(20):
        while memory.times_emptied < emptied or len(memory.forgotten) < forgotten:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_what_changes_is_forgotten_and_nothing_else(url: str, store: Store) -> None:
    record_report(store, bare_report(Address("0x" + "01" * 20)), NEXT)
    memory = Memory()
    async with looking(url, memory):
        await until(memory)
        record_report(store, bare_report(TOKEN), NEXT)
        record_report(store, bare_report(TOKEN, chain_id=56), NEXT)  # a chain not served here
        await until(memory, forgotten=1)
    assert memory.forgotten == [("ethereum", TOKEN)]


async def test_after_a_time_without_the_database_nothing_is_trusted(
    url: str, store: Store, postgres_server: PostgresServer
) -> None:
    memory = Memory()
    with proxied(postgres_server.port) as proxy:
        through = url.replace(f":{postgres_server.port}/", f":{proxy.port}/")
        async with looking(through, memory):
            await until(memory)
            proxy.refuse()
            proxy.cut()
            record_report(store, bare_report(TOKEN), NEXT)
            await asyncio.sleep(1.0)
            proxy.refuse(is_refusing=False)
            await until(memory, emptied=2)


async def test_messages_reach_all_processes_also_after_the_server_was_away() -> None:
    stop = asyncio.Event()
    heard: list[list[tuple[int, str]]] = [[], []]
    with running_valkey() as server:
        processes = [FleetMessages(Secret(server.url)) for _ in heard]
        for messages, notes in zip(processes, heard, strict=True):
            messages.subscribe("ended", partial(_note, notes))
        tasks = [asyncio.create_task(messages.run(stop)) for messages in processes]
        await _until_heard(processes[0], heard)
        server.kill()
        processes[0].send("ended", 1, TOKEN)  # lost
        await asyncio.sleep(0.2)
        server.start()
        for notes in heard:
            notes.clear()
        await _until_heard(processes[0], heard)
        stop.set()
        await asyncio.gather(*tasks)
    assert all(set(notes) == {(1, TOKEN)} for notes in heard)


def _note(notes: list[tuple[int, str]], chain_id: int, token: Address) -> None:
    notes.append((chain_id, token))


async def _until_heard(sender: FleetMessages, heard: list[list[tuple[int, str]]]) -> None:
    async with asyncio.timeout(20):
        while not all(heard):
            sender.send("ended", 1, TOKEN)
            await asyncio.sleep(0.1)


async def test_without_a_server_for_messages_none_are_sent() -> None:
    messages = FleetMessages(None)
    messages.send("asked", 1, TOKEN)
    await messages.run(asyncio.Event())
