"""Protects the running of jobs: due work is done once, through cuts, pauses and hostile SQL."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from assay.service.background.job_runner import RunEnd
from config.job_definition import JobDefinition
from core.errors import TokenRefusedError, UpstreamError
from core.evm.primitives import Address
from sql.engine.store import Store
from sql.jobs.job_runs import find_unfinished_run, read_token_times
from sql.jobs.job_table import add_job, find_job, pause_job, remove_job, request_run
from sql.tokens.tokens import track_tokens
from tests.harness.clock import HandClock
from tests.harness.jobs.job_service import (
    CHAIN_ID,
    PATIENCE_S,
    SETTINGS,
    SLUG,
    Process,
    a_job,
    address,
    ask_for,
    runs_of,
)
from tests.harness.store.empty_files import new_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "assay")
    yield opened
    opened.close()


@pytest.fixture
def clock() -> HandClock:
    return HandClock(1_800_000_000.0)


@pytest.fixture
async def process(store: Store, clock: HandClock, tmp_path: Path) -> AsyncIterator[Process]:
    opened = Process(store, clock, tmp_path)
    yield opened
    await opened.aclose()


async def test_what_is_due_is_done_and_counted(
    store: Store, clock: HandClock, process: Process
) -> None:
    process.scanner.errors = {
        address(2): TokenRefusedError(code="not_a_token", reason="no symbol"),
        address(3): UpstreamError(service="node", reason="silent"),
    }
    add_job(store, a_job(), now_s=clock())
    await process.work()
    assert process.scanner.requests == []
    clock.now_s += 3600
    await process.work()
    (run,) = runs_of(store)
    assert (run.outcome, run.tokens, run.done, run.refused, run.failed) == (
        "partly_failed",
        3,
        1,
        1,
        1,
    )
    assert run.error == "node: silent"
    assert process.ends == [RunEnd(job="mine", outcome="partly_failed")]
    assert sorted(process.scanner.requests) == [(address(number), False) for number in (1, 2, 3)]


async def test_days_without_a_service_are_made_up_for_by_one_run(
    store: Store, clock: HandClock, process: Process
) -> None:
    add_job(store, a_job(cron="0 * * * *", every_s=None), now_s=clock())
    clock.now_s += 5 * 86_400
    for _ in range(3):
        await process.work()
    (run,) = runs_of(store)
    assert run.outcome == "succeeded"
    assert len(process.scanner.requests) == 3


async def test_young_reports_are_left_out_and_old_ones_are_not(
    store: Store, clock: HandClock, process: Process
) -> None:
    await process.analyser.refresh(SLUG, address(1))
    clock.now_s += 50
    await process.analyser.refresh(SLUG, address(2))
    clock.now_s += 60
    ask_for(store, clock, a_job(younger_than_s=100))
    await process.work()
    (run,) = runs_of(store)
    assert (run.done, run.young) == (2, 1)


async def test_verify_uses_nothing_that_is_stored_and_looks_up_the_past_again(
    store: Store, clock: HandClock, process: Process
) -> None:
    await process.analyser.refresh(SLUG, address(1))
    ask_for(store, clock, a_job(action="verify"))
    await process.work()
    (run,) = runs_of(store)
    assert run.done == 3
    assert sorted(process.scanner.requests[1:]) == [(address(number), True) for number in (1, 2, 3)]
    rows = store.fetch_tuples(
        "tasks/count_due", kind="history", chain_id=1, now_s=int(clock()), at_most=9
    )
    assert sum(rows[0]) == 3


async def test_a_run_that_was_cut_goes_on_with_what_is_left(
    store: Store, clock: HandClock, process: Process, tmp_path: Path
) -> None:
    """Its first process ends while it analyses the second four of ten tokens."""
    tokens = tuple(f"1/{address(number)}" for number in range(10))
    ask_for(store, clock, a_job(tokens=tokens))
    first = Process(store, clock, tmp_path)
    await first.runner.look()
    await first.work_until(4)
    first.scanner.open.clear()
    await first.work_until(6)
    await first.aclose()
    clock.now_s += 5
    await process.work()
    (run,) = runs_of(store)
    assert (run.outcome, run.tokens, run.done) == ("succeeded", 10, 10)
    settled = {token for token, _ in first.scanner.requests[:4]}
    again = {token for token, _ in process.scanner.requests}
    assert not settled & again
    assert len(process.scanner.requests) == 6


async def test_a_report_that_was_stored_before_it_was_counted_is_not_made_again(
    store: Store, clock: HandClock, process: Process
) -> None:
    """Killed in between: the report is newer than the run."""
    add_job(store, a_job(), now_s=clock())
    clock.now_s += 3600
    process.scanner.open.clear()
    await process.runner.look()
    await process.work_until(2)
    await process.runner.aclose()  # nobody counts what comes now
    process.scanner.open.set()
    await asyncio.gather(*process.begun)
    for token, _ in process.scanner.requests:
        assert read_token_times(store, chain_id=1, address=Address(token)).scanned_at_s is not None
    await process.work()
    (run,) = runs_of(store)
    assert (run.outcome, run.done) == ("succeeded", 3)
    scanned_tokens = sorted(token for token, _ in process.scanner.requests)
    assert scanned_tokens == [address(1), address(2), address(3)]


async def test_a_paused_job_stops_within_a_run_and_goes_on_once_it_is_resumed(
    store: Store, clock: HandClock, process: Process
) -> None:
    ask_for(store, clock, a_job())
    await process.runner.look()
    pause_job(store, "mine", is_paused=True, now_s=clock())
    await process.work()
    job = find_job(store, "mine")
    assert job is not None
    run = find_unfinished_run(store, job.job_id)
    assert run is not None
    assert (run.is_held, run.cuts) == (False, 0)
    assert process.scanner.requests == []
    pause_job(store, "mine", is_paused=False, now_s=clock())
    await process.work()
    assert [run.outcome for run in runs_of(store)] == ["succeeded"]


async def test_a_removed_job_stops(store: Store, clock: HandClock, process: Process) -> None:
    ask_for(store, clock, a_job())
    await process.runner.look()
    remove_job(store, "mine")
    await process.work()
    assert process.scanner.requests == []
    assert process.ends == []


async def test_two_processes_run_a_job_once(
    store: Store, clock: HandClock, process: Process, tmp_path: Path
) -> None:
    other = Process(store, clock, tmp_path)
    ask_for(store, clock, a_job())
    await asyncio.gather(process.work(), other.work())
    assert len(runs_of(store)) == 1
    assert len(process.scanner.requests) + len(other.scanner.requests) == 3
    assert not other.scanner.requests or not process.scanner.requests
    await process.runner.aclose()
    request_run(store, "mine", now_s=clock())
    await other.work()
    await other.work()
    assert [run.outcome for run in runs_of(store)] == ["succeeded", "succeeded"]
    await other.aclose()


async def test_a_large_job_leaves_half_of_each_round_and_all_of_the_budget_rule(
    store: Store, clock: HandClock, process: Process
) -> None:
    """Forty tokens of a job, and ten that are due anyway."""
    due = {address(number): 1 for number in range(100, 110)}
    with store.transaction() as tx:
        track_tokens(tx, chain_id=CHAIN_ID, seen=due, because="pool")
    tokens = tuple(f"1/{address(number)}" for number in range(40))
    ask_for(store, clock, a_job(tokens=tokens))
    await process.runner.look()
    for _ in range(4):
        await process.until_waiting(2)
        await process.rounds.go(SLUG)
    scanned_tokens = [token for token, _ in process.scanner.requests]
    assert sum(token in due for token in scanned_tokens) == 8
    assert len(scanned_tokens) == 16


async def test_a_job_waits_for_the_budget(store: Store, clock: HandClock, tmp_path: Path) -> None:
    settings = msgspec.structs.replace(SETTINGS, background_cpu_s_per_hour=1e-9)
    process = Process(store, clock, tmp_path, settings)
    ask_for(store, clock, a_job())
    await process.runner.look()
    await process.until_waiting(3)
    for _ in range(5):
        await process.rounds.go(SLUG)
    assert len(process.scanner.requests) == 2  # one round; its cost was all there was
    assert process.share.waiting(SLUG) == 1
    await process.aclose()


HOSTILE = {
    "delete from v_tokens": "",
    "drop view v_tokens": "",
    "select 1 as chain, '0x' as address; select 2": "",
    "copy (select 1) to 'out.csv'": "",
    "select * from read_csv('/etc/passwd')": "",
    "select 1 as chain, range::text as address from range(100)": "more than 50 rows",
    "select chain, 'x' as token from v_tokens": "'address'",
    "select 1 as chain, '0x12' as address": "row 1",
    "select nothing": "nothing",
    " ": "",
    "select sum(range) as chain, 'x' as address from range(1000000000000)": "longer than 1 s",
    "select 1 as chain, string_agg(repeat(range::text, 1000), ',') as address "
    "from range(100000000)": "",
}


@pytest.mark.process
@pytest.mark.parametrize("sql", HOSTILE)
async def test_hostile_sql_fails_its_run_with_the_reason(
    store: Store, clock: HandClock, tmp_path: Path, sql: str
) -> None:
    """And nothing else: the next run is due as if nothing had been."""
    is_greedy = "100000000" in sql
    process = Process(store, clock, tmp_path, statement_s=1.0 if is_greedy else PATIENCE_S)
    ask_for(store, clock, msgspec.structs.replace(a_job(sql="select 1"), sql=sql))
    await process.work()
    (run,) = runs_of(store)
    assert run.outcome == "failed"
    assert run.error is not None
    assert HOSTILE[sql] in run.error
    assert process.scanner.requests == []
    assert process.ends == [RunEnd(job="mine", outcome="failed")]
    job = find_job(store, "mine")
    assert job is not None
    assert job.due_s == clock() + 3600
    await process.aclose()


SOME = """
select chain, address from v_tokens
union all select 56, '0x0000000000000000000000000000000000000009'
"""


@pytest.mark.process
async def test_sql_names_the_tokens(store: Store, clock: HandClock, process: Process) -> None:
    with store.transaction() as tx:
        track_tokens(tx, chain_id=CHAIN_ID, seen={address(7): 1, address(8): 2}, because="pool")

    ask_for(store, clock, a_job(sql=SOME))
    await process.work()
    (run,) = runs_of(store)
    assert (run.outcome, run.tokens, run.done, run.failed) == ("partly_failed", 3, 2, 1)
    assert run.error == "1 tokens are of chains that are not served here"


@pytest.mark.process
async def test_a_stop_ends_a_statement_that_does_not_end(
    store: Store, clock: HandClock, tmp_path: Path
) -> None:
    process = Process(store, clock, tmp_path)
    endless = next(sql for sql in HOSTILE if "1000000000000" in sql)
    ask_for(store, clock, a_job(sql=endless))
    await process.runner.look()
    await asyncio.sleep(0.2)
    await process.aclose()
    job = find_job(store, "mine")
    assert job is not None
    run = find_unfinished_run(store, job.job_id)
    assert run is not None
    assert not run.is_held


@pytest.mark.process
async def test_an_export_writes_below_its_folder(
    store: Store, clock: HandClock, process: Process, tmp_path: Path
) -> None:
    with store.transaction() as tx:
        track_tokens(tx, chain_id=CHAIN_ID, seen={address(7): 1}, because="pool")
    job = JobDefinition(
        name="mine", action="export", every_s=60, folder="night", views=("v_tokens",)
    )
    ask_for(store, clock, job)
    await process.work()
    (run,) = runs_of(store)
    assert (run.outcome, run.error, run.rows_exported) == ("succeeded", None, 1)
    assert (tmp_path / "exports" / "night" / "v_tokens.parquet").exists()
    # Whatever stands in the way is the run's error.
    with suppress(FileNotFoundError):
        (tmp_path / "exports" / "night" / "v_tokens.parquet").unlink()
    (tmp_path / "exports" / "night" / "v_tokens.parquet").mkdir()
    clock.now_s += 60
    await process.work()
    assert [run.outcome for run in runs_of(store)] == ["failed", "succeeded"]
