"""Protects the counts in memory: each call reaches the ledger once, whatever fails or is killed."""

import asyncio
import gc
import random
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from psycopg.conninfo import make_conninfo

from api.auth import usage_counters as module
from api.auth.usage_counters import UsageCounters
from config.plans import load_plans
from core.errors import StoreError
from sql.accounts.ledger import LEDGER, Calls, Ledger, Usage
from sql.engine.database import Transaction
from sql.engine.postgres.connection_limits import ConnectionLimits
from sql.engine.postgres.postgres_database import PostgresDatabase
from tests.harness.api.counting_kills import KillsSpec, Outcome
from tests.harness.api.sample_reports import MINED_AT_S
from tests.harness.clock import HandClock
from tests.harness.parts.empty_databases import EmptyDatabases
from tests.harness.parts.postgres_server import PostgresServer
from tests.harness.parts.tcp_proxy import TcpProxy, proxied
from tests.harness.parts.valkey_server import running_valkey
from tests.harness.store.empty_files import new_ledger
from tests.house.sources import ROOT

PLANS = load_plans()

DAY_S = 86_400


@pytest.fixture
def clock() -> HandClock:
    return HandClock(MINED_AT_S)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = new_ledger(tmp_path / "ledger.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def key_id(ledger: Ledger, clock: HandClock) -> int:
    return ledger.create_key(PLANS["pro"], "", clock.now_s).row.key_id


@pytest.fixture
async def usage_counters(ledger: Ledger, clock: HandClock) -> AsyncIterator[UsageCounters]:
    made = UsageCounters(ledger, now_s=clock)
    yield made
    await made.aclose()


async def count(usage_counters: UsageCounters, key_id: int, calls: int, now_s: float) -> None:
    tally = await usage_counters.tally(key_id)
    for _ in range(calls):
        usage_counters.turn_to(tally, now_s)
        usage_counters.count(tally)


async def test_calls_of_several_visits_are_each_written_once(
    usage_counters: UsageCounters, ledger: Ledger, key_id: int, clock: HandClock
) -> None:
    for visited in range(1, 4):
        await count(usage_counters, key_id, 5, clock.now_s)
        await usage_counters.visit()
        await usage_counters.visit()
        assert ledger.usage(key_id, clock.now_s).lifetime == 5 * visited


async def test_a_visit_comes_by_itself_and_soon(
    usage_counters: UsageCounters, ledger: Ledger, key_id: int, clock: HandClock
) -> None:
    await count(usage_counters, key_id, 1, clock.now_s)
    assert ledger.usage(key_id, clock.now_s).lifetime == 0
    await asyncio.sleep(0)
    async with asyncio.timeout(module.LOST_AT_MOST_S):
        written = 0
        while not written:
            await asyncio.sleep(0.01)
            written = ledger.usage(key_id, clock.now_s).lifetime
    assert written == 1


async def test_calls_counted_while_a_visit_is_under_way_wait_for_the_next(
    usage_counters: UsageCounters,
    ledger: Ledger,
    key_id: int,
    clock: HandClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began, go_on, write = threading.Event(), threading.Event(), Ledger.add_calls

    def slow(*args: Any) -> dict[int, Usage]:
        began.set()
        go_on.wait(10)
        return write(*args)

    monkeypatch.setattr(Ledger, "add_calls", slow)
    await count(usage_counters, key_id, 3, clock.now_s)
    visit = asyncio.create_task(usage_counters.visit())
    await asyncio.to_thread(began.wait, 10)
    await count(usage_counters, key_id, 4, clock.now_s)
    go_on.set()
    await visit
    tally = await usage_counters.tally(key_id)
    assert (ledger.usage(key_id, clock.now_s).day, tally.day_calls) == (3, 7)
    await usage_counters.visit()
    assert (ledger.usage(key_id, clock.now_s).day, tally.day_calls) == (7, 7)


async def test_nobody_visits_after_the_end(
    ledger: Ledger, key_id: int, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "VISIT_EVERY_S", 1.5)  # so that none comes before the end
    usage_counters = UsageCounters(ledger, now_s=clock)
    await count(usage_counters, key_id, 1, clock.now_s)
    unplanned = asyncio.create_task(usage_counters.visit())
    for _ in range(2):  # a task that begins a task
        await asyncio.sleep(0)
    await count(usage_counters, key_id, 1, clock.now_s)
    await unplanned
    await usage_counters.aclose()
    assert ledger.usage(key_id, clock.now_s).lifetime == 2
    visits: list[None] = []
    monkeypatch.setattr(ledger, "read_key_revision", lambda: visits.append(None))
    await asyncio.sleep(2)
    assert not visits


async def test_two_processes_learn_of_each_others_calls(
    usage_counters: UsageCounters, ledger: Ledger, key_id: int, clock: HandClock, tmp_path: Path
) -> None:
    theirs = Ledger.open(tmp_path / "ledger.sqlite")
    other = UsageCounters(theirs, now_s=clock)
    await count(usage_counters, key_id, 3, clock.now_s)
    await count(other, key_id, 4, clock.now_s)
    await usage_counters.visit()
    await other.visit()
    assert (await other.tally(key_id)).day_calls == 7
    await count(usage_counters, key_id, 1, clock.now_s)
    await usage_counters.visit()
    assert (await usage_counters.tally(key_id)).day_calls == 8
    await other.aclose()
    theirs.close()


async def test_a_visit_that_fails_is_made_up_for_and_nothing_doubled(
    usage_counters: UsageCounters,
    ledger: Ledger,
    key_id: int,
    clock: HandClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> None:
        raise StoreError(path="ledger", reason="locked")

    await count(usage_counters, key_id, 3, clock.now_s)
    for broken_part in ("read_key_revision", "add_calls"):
        with monkeypatch.context() as patch:
            patch.setattr(Ledger, broken_part, broken)
            await usage_counters.visit()
            await count(usage_counters, key_id, 2, clock.now_s)
        assert ledger.usage(key_id, clock.now_s).lifetime == 0
    assert (await usage_counters.tally(key_id)).day_calls == 7
    await usage_counters.visit()
    assert ledger.usage(key_id, clock.now_s).lifetime == 7
    assert (await usage_counters.tally(key_id)).day_calls == 7


async def test_late_calls_are_an_error_until_they_are_written(
    usage_counters: UsageCounters, key_id: int, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise StoreError(path="ledger", reason="locked")

    monkeypatch.setattr(module, "HOLD_AFTER_S", 0.05)
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "add_calls", broken)
        await count(usage_counters, key_id, 1, clock.now_s)
        assert not usage_counters.is_late()
        await asyncio.sleep(0.06)
        assert usage_counters.is_late()
        with pytest.raises(StoreError, match="cannot be written"):
            await usage_counters.catch_up()
    await usage_counters.catch_up()
    assert not usage_counters.is_late()


async def test_calls_counted_during_a_slow_visit_are_no_error(
    usage_counters: UsageCounters,
    ledger: Ledger,
    key_id: int,
    clock: HandClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A slow ledger works: a waiting call is admitted once all is written."""
    began, go_on, write = threading.Event(), threading.Event(), Ledger.add_calls

    def slow(*args: Any) -> dict[int, Usage]:
        began.set()
        go_on.wait(10)
        return write(*args)

    monkeypatch.setattr(module, "HOLD_AFTER_S", 0.05)
    monkeypatch.setattr(Ledger, "add_calls", slow)
    await count(usage_counters, key_id, 1, clock.now_s)
    visit = asyncio.create_task(usage_counters.visit())
    await asyncio.to_thread(began.wait, 10)
    await count(usage_counters, key_id, 1, clock.now_s)
    await asyncio.sleep(0.06)
    pending_visit = asyncio.create_task(usage_counters.catch_up())
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(visit, pending_visit)
    assert ledger.usage(key_id, clock.now_s).lifetime == 2


async def test_a_new_page_begins_with_the_day_and_the_month(
    usage_counters: UsageCounters, ledger: Ledger, key_id: int, clock: HandClock
) -> None:
    first_s = clock.now_s  # 21 September
    tally = await usage_counters.tally(key_id)
    seen = []
    for days in (0, 1, 10, 9, 10):  # and once the clock goes back a day
        await count(usage_counters, key_id, 2, first_s + days * DAY_S)
        seen.append((tally.day_calls, tally.month_calls))
    assert seen == [(2, 2), (2, 4), (2, 2), (2, 2), (2, 2)]
    clock.now_s = first_s + 10 * DAY_S
    await usage_counters.visit()
    assert [ledger.usage(key_id, first_s + days * DAY_S).day for days in (0, 1, 9, 10)] == [
        2,
        2,
        2,
        4,
    ]
    assert (tally.day_calls, tally.month_calls, tally.lifetime) == (4, 4, 10)


async def test_a_tally_lives_until_it_is_written_and_no_longer(
    usage_counters: UsageCounters, ledger: Ledger, key_id: int, clock: HandClock
) -> None:
    ledger.add_calls([Calls(key_id=key_id, day="2026-09-21", calls=5)], clock.now_s)
    await count(usage_counters, key_id, 2, clock.now_s)
    gc.collect()
    assert (
        await usage_counters.tally(key_id)
    ).day_calls == 7  # nobody holds it but what is unwritten
    await usage_counters.visit()
    gc.collect()
    assert not usage_counters._tallies
    assert (await usage_counters.tally(key_id)).day_calls == 7


async def test_keys_in_memory_are_believed_for_seconds(
    usage_counters: UsageCounters, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not usage_counters.are_keys_current()
    await usage_counters.look()
    assert usage_counters.are_keys_current()

    def broken(*_: object) -> None:
        raise StoreError(path="ledger", reason="gone")

    monkeypatch.setattr(Ledger, "read_key_revision", broken)
    monkeypatch.setattr(module, "MOST_UNSEEN_S", 0.0)
    assert not usage_counters.are_keys_current()
    with pytest.raises(StoreError, match="cannot be read"):
        await usage_counters.look()


async def test_a_look_that_took_long_is_a_look(
    usage_counters: UsageCounters, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that stood still for seconds is no ledger out of reach."""
    monkeypatch.setattr(module, "MOST_UNSEEN_S", 0.0)
    for _ in range(2):
        await usage_counters.look()
        assert not usage_counters.are_keys_current()


# --- unsure counts ------------------------------------------------------------------------------

HASTY = ConnectionLimits(statement_s=0.3, silence_s=0.3, lock_s=0.3, connect_s=2.0, connections=4)


@pytest.mark.parametrize("is_committed", [True, False])
async def test_calls_of_which_nobody_knows_are_counted_once(
    empty_databases: EmptyDatabases,
    postgres_server: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_committed: bool,
) -> None:
    clock = HandClock(MINED_AT_S)
    with (
        empty_databases.lent() as url,
        proxied(postgres_server.port) as wire,
        closing(Ledger(PostgresDatabase(url, LEDGER))) as near,
    ):
        beyond = make_conninfo(url, host="127.0.0.1", port=wire.port)
        database = PostgresDatabase(beyond, LEDGER, limits=HASTY)
        with closing(Ledger(database)) as far:
            key_id = near.create_key(load_plans()["admin"], "", clock.now_s).row.key_id
            usage_counters = UsageCounters(far, now_s=clock)
            tally = await usage_counters.tally(key_id)
            for _ in range(3):
                usage_counters.count(tally)
            with monkeypatch.context() as patch:
                patch.setattr(database, "transaction", failing(database, wire, is_committed))
                await usage_counters.visit()
            for _ in range(2):
                usage_counters.count(tally)
            await usage_counters.visit()  # still cut off
            assert near.usage(key_id, clock.now_s).lifetime == (3 if is_committed else 0)
            wire.hold_answers(is_holding=False)
            wire.refuse(is_refusing=False)
            wire.cut()
            await usage_counters.visit()
            assert near.usage(key_id, clock.now_s).lifetime == 5
            assert (tally.lifetime, usage_counters.is_late()) == (5, False)
            await usage_counters.aclose()
            assert near.usage(key_id, clock.now_s).lifetime == 5


def failing(database: PostgresDatabase, wire: TcpProxy, is_committed: bool) -> object:
    """Transactions whose commit arrives without an answer, or does not arrive."""
    begin = database.transaction

    @contextmanager
    def transaction(*, chain_id: int | None = None) -> Iterator[Transaction]:
        with begin(chain_id=chain_id) as write:
            yield write
            if is_committed:
                wire.hold_answers()
            else:
                wire.refuse()
                wire.cut()

    return transaction


# --- counting kills -----------------------------------------------------------------------------

KILLS = 16

KILLS_ON_DATABASE = 8

_AT_MOST_S = 180.0

"""Until a limit of each sort was reached, on a machine that does much else."""


@pytest.mark.process
@pytest.mark.fleet
def test_kills_lose_and_double_nothing_that_was_to_be_kept() -> None:
    """`tests/drills/kills.py` does it a thousand times."""
    outcome = check(KILLS)
    assert outcome.window_calls == 0


@pytest.mark.process
@pytest.mark.fleet
def test_nor_do_kills_of_nodes_on_one_database_and_one_valkey(
    empty_databases: EmptyDatabases,
) -> None:
    with running_valkey() as valkey:
        outcome = check(KILLS_ON_DATABASE, url=empty_databases.create_bare(), redis_url=valkey.url)
    assert outcome.full_windows > outcome.not_shared


def check(kills: int, url: str | None = None, redis_url: str | None = None) -> Outcome:
    """Run the drill in a separate process, as it forks."""
    seed = random.randrange(2**32)  # noqa: S311 - chance, not secrecy
    spec = KillsSpec(calls=10 * kills, kills=kills, seed=seed, url=url, redis_url=redis_url)
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.harness.api.counting_kills",
            msgspec.json.encode(spec).decode(),
        ],
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=_AT_MOST_S,
    )
    outcome = msgspec.json.decode(run.stdout, type=Outcome)
    assert outcome.kills >= kills
    assert outcome.spent_keys > 0
    found = (outcome.lost, outcome.doubled, outcome.beyond, outcome.beyond_window)
    assert found == (0, 0, 0, 0), f"seed {seed}: {outcome}"
    return outcome
