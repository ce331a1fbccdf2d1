"""Protects jobs in the serving state: one run at a time, nothing lost, pauses kept."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from config.job_definition import JobDefinition, JobStateError, JobToken
from core.evm.primitives import Address
from sql.engine.database import Transaction
from sql.engine.store import Store
from sql.jobs.job_runs import (
    MOST_CUTS,
    RUNS_KEPT,
    JobRun,
    begin_run,
    count_tokens,
    find_unfinished_run,
    finish_run,
    list_runs,
    list_tokens,
    list_unfinished_runs,
    take_up_run,
    write_tokens,
)
from sql.jobs.job_table import (
    Job,
    add_job,
    find_job,
    list_due_jobs,
    list_jobs,
    pause_job,
    remove_job,
    request_run,
    write_configured_jobs,
)
from tests.harness.examples import one_in
from tests.harness.store.empty_files import new_store, temporary_store

NOW_S = 1_800_000_000
HOURLY = JobDefinition(name="hourly", action="refresh", every_s=3600, sql="select 1")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "assay")
    yield opened
    opened.close()


def job(store: Store, name: str = "hourly") -> Job:
    found = find_job(store, name)
    assert found is not None
    return found


def token(number: int, chain_id: int = 1) -> JobToken:
    return JobToken(chain_id=chain_id, address=Address(f"0x{number:040x}"))


def begun(store: Store, *, now_s: float) -> JobRun:
    run = begin_run(store, job(store), now_s=now_s)
    assert run is not None
    return run


def test_missed_times_are_made_up_for_once(store: Store) -> None:
    add_job(store, HOURLY, now_s=NOW_S)
    later_s = NOW_S + 10 * 3600 + 5
    run = begun(store, now_s=later_s)
    assert (run.cause, run.due_s) == ("schedule", NOW_S + 3600)
    finish_run(store, run.run_id, now_s=later_s)
    assert begin_run(store, job(store), now_s=later_s) is None
    assert job(store).due_s == NOW_S + 11 * 3600


def test_a_time_that_comes_during_a_run_is_left_out_and_counted(store: Store) -> None:
    add_job(store, HOURLY, now_s=NOW_S)
    run = begun(store, now_s=NOW_S + 3600)
    assert begin_run(store, job(store), now_s=NOW_S + 7200) is None
    (only,) = list_runs(store, run.job_id, at_most=9)
    assert (only.run_id, only.overlaps) == (run.run_id, 1)
    assert job(store).due_s == NOW_S + 3 * 3600


def test_a_pause_is_kept_and_nothing_missed_in_it_is_made_up_for(store: Store) -> None:
    add_job(store, HOURLY, now_s=NOW_S)
    pause_job(store, "hourly", is_paused=True, now_s=NOW_S)
    late_s = NOW_S + 100 * 3600
    assert list_due_jobs(store, now_s=late_s, at_most=9) == []
    assert begin_run(store, job(store), now_s=late_s) is None
    with pytest.raises(JobStateError, match="paused"):
        request_run(store, "hourly", now_s=late_s)
    pause_job(store, "hourly", is_paused=False, now_s=late_s)
    assert job(store).due_s == late_s + 3600


def test_a_run_that_is_asked_for_comes_at_once_and_only_once(store: Store) -> None:
    add_job(store, HOURLY, now_s=NOW_S)
    request_run(store, "hourly", now_s=NOW_S + 5)
    run = begun(store, now_s=NOW_S + 5)
    assert run.cause == "request"
    with pytest.raises(JobStateError, match="running already"):
        request_run(store, "hourly", now_s=NOW_S + 6)
    assert (job(store).due_s, job(store).is_requested) == (NOW_S + 3600, False)


def test_the_configuration_adds_changes_and_removes_its_own_jobs_only(store: Store) -> None:
    add_job(store, msgspec.structs.replace(HOURLY, name="by-hand"), now_s=NOW_S)
    write_configured_jobs(store, [HOURLY], now_s=NOW_S)
    pause_job(store, "hourly", is_paused=True, now_s=NOW_S)
    with pytest.raises(JobStateError, match="configuration"):
        remove_job(store, "hourly")
    # The same once more, an hour and a half later: what was missed is still to be made up for.
    write_configured_jobs(store, [HOURLY], now_s=NOW_S + 5400)
    assert (job(store).due_s, job(store).is_paused) == (NOW_S + 3600, True)
    other = msgspec.structs.replace(HOURLY, every_s=60)
    write_configured_jobs(store, [other], now_s=NOW_S + 5400)
    assert (job(store).due_s, job(store).is_paused) == (NOW_S + 5460, True)
    write_configured_jobs(store, [], now_s=NOW_S)
    assert [each.name for each in list_jobs(store)] == ["by-hand"]
    with pytest.raises(JobStateError, match="rename"):
        write_configured_jobs(store, [msgspec.structs.replace(HOURLY, name="by-hand")], now_s=NOW_S)


def test_a_job_that_is_changed_ends_the_run_of_what_it_was(store: Store) -> None:
    write_configured_jobs(store, [HOURLY], now_s=NOW_S)
    run = begun(store, now_s=NOW_S + 3600)
    other = msgspec.structs.replace(HOURLY, action="verify")
    write_configured_jobs(store, [other], now_s=NOW_S + 3601)
    assert take_up_run(store, run.run_id, now_s=NOW_S + 3602) is None
    (ended,) = list_runs(store, run.job_id, at_most=9)
    assert (ended.outcome, ended.error) == ("cut", "the job was changed during this run")


def test_a_removed_job_takes_its_runs_along(store: Store) -> None:
    add_job(store, HOURLY, now_s=NOW_S)
    run = begun(store, now_s=NOW_S + 3600)
    write_tokens(store, run.run_id, [token(1)], failed=0, error=None)
    remove_job(store, "hourly")
    assert list_tokens(store, run.run_id, chain_id=1, at_most=9) == []
    assert list_runs(store, run.job_id, at_most=9) == []
    count_tokens(store, run.run_id, [(token(1), "done")], error=None)
    assert finish_run(store, run.run_id, now_s=NOW_S) is None


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        (("done", "young", "refused"), "succeeded"),
        (("done", "failed"), "partly_failed"),
        (("failed", "failed"), "failed"),
        ((), "succeeded"),
    ],
)
def test_the_outcome_of_a_run(store: Store, outcomes: tuple[str, ...], expected: str) -> None:
    add_job(store, HOURLY, now_s=NOW_S)
    run = begun(store, now_s=NOW_S + 3600)
    tokens = [token(number) for number in range(len(outcomes))]
    write_tokens(store, run.run_id, tokens, failed=0, error=None)
    for each, outcome in zip(tokens, outcomes, strict=True):
        count_tokens(store, run.run_id, [(each, outcome)], error=None)  # type: ignore[list-item]
    ended = finish_run(store, run.run_id, now_s=NOW_S + 4000)
    assert ended is not None
    assert ended.outcome == expected
    assert job(store).succeeded_at_s == (NOW_S + 4000 if expected == "succeeded" else None)


def test_a_run_that_ends_the_service_again_and_again_is_given_up(store: Store) -> None:
    add_job(store, HOURLY, now_s=NOW_S)
    run = begun(store, now_s=NOW_S + 3600)
    for _ in range(MOST_CUTS):
        assert take_up_run(store, run.run_id, now_s=NOW_S + 3700) is not None
    assert take_up_run(store, run.run_id, now_s=NOW_S + 3800) is None
    (ended,) = list_runs(store, run.job_id, at_most=9)
    assert (ended.outcome, ended.ended_at_s) == ("cut", NOW_S + 3800)


def test_old_runs_are_forgotten(store: Store) -> None:
    add_job(store, HOURLY, now_s=NOW_S)
    for number in range(RUNS_KEPT + 7):
        request_run(store, "hourly", now_s=NOW_S + number)
        finish_run(store, begun(store, now_s=NOW_S + number).run_id, now_s=NOW_S + number)
    runs = list_runs(store, job(store).job_id, at_most=1_000)
    assert [run.started_at_s for run in runs] == [NOW_S + n for n in range(RUNS_KEPT + 6, 6, -1)]


def test_a_hundred_thousand_tokens_are_written_in_steps_that_let_others_write(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_job(store, HOURLY, now_s=NOW_S)
    run = begun(store, now_s=NOW_S + 3600)
    opened = list[int]()
    plain = store.transaction

    def counted() -> AbstractContextManager[Transaction]:
        opened.append(1)
        return plain()

    monkeypatch.setattr(store, "transaction", counted)
    write_tokens(store, run.run_id, [token(n) for n in range(10_000)], failed=0, error=None)
    assert len(opened) >= 5
    # Cut while it was written: the next selection replaces what there is.
    write_tokens(store, run.run_id, [token(1), token(2)], failed=1, error="x")
    assert list_tokens(store, run.run_id, chain_id=1, at_most=9) == [token(1), token(2)]
    found = find_unfinished_run(store, run.job_id)
    assert found is not None
    assert (found.tokens, found.failed) == (3, 1)


class Jobs(RuleBasedStateMachine):
    """Two processes that run the jobs in turns and end anywhere: at most one run, none lost."""

    @initialize()
    def begin(self) -> None:
        self.context = temporary_store()
        self.store = self.context.__enter__()
        self.now_s = NOW_S
        add_job(self.store, HOURLY, now_s=self.now_s)
        self.begun = 0
        self.left: set[int] = set()

    def teardown(self) -> None:
        if hasattr(self, "context"):
            self.context.__exit__(None, None, None)

    @rule(seconds=st.integers(0, 20_000))
    def time_passes(self, seconds: int) -> None:
        self.now_s += seconds

    @rule(is_paused=st.booleans())
    def pause(self, is_paused: bool) -> None:
        pause_job(self.store, "hourly", is_paused=is_paused, now_s=self.now_s)

    @rule()
    def look(self) -> None:
        before = job(self.store)
        was_running = find_unfinished_run(self.store, before.job_id) is not None
        run = begin_run(self.store, before, now_s=self.now_s)
        is_due = before.due_s <= self.now_s and not before.is_paused
        assert (run is not None) == (is_due and not was_running)
        if run is not None:
            self.left = {1, 2, 3}
            tokens = [token(number) for number in self.left]
            write_tokens(self.store, run.run_id, tokens, failed=0, error=None)

    @rule()
    def crash_and_take_up(self) -> None:
        for run in list_unfinished_runs(self.store):
            if take_up_run(self.store, run.run_id, now_s=self.now_s) is None:
                self.left = set()

    @rule()
    def do_one(self) -> None:
        run = find_unfinished_run(self.store, job(self.store).job_id)
        if run is not None and self.left:
            number = min(self.left)
            count_tokens(self.store, run.run_id, [(token(number), "done")], error=None)
            self.left.discard(number)

    @rule()
    def end(self) -> None:
        run = find_unfinished_run(self.store, job(self.store).job_id)
        if run is not None and not self.left:
            ended = finish_run(self.store, run.run_id, now_s=self.now_s)
            assert ended is not None
            assert (ended.outcome, ended.done) == ("succeeded", 3)

    @invariant()
    def what_is_left_is_stored(self) -> None:
        if not hasattr(self, "store"):
            return
        run = find_unfinished_run(self.store, job(self.store).job_id)
        left = [] if run is None else list_tokens(self.store, run.run_id, chain_id=1, at_most=9)
        assert left == [token(number) for number in sorted(self.left)]


TestJobs = Jobs.TestCase
TestJobs.settings = settings(max_examples=one_in(4), stateful_step_count=20, deadline=None)
