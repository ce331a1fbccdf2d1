"""Protects the analysis of a token in a fleet: one process at a time, through any failure."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from assay.service.record_report import NextRefresh, record_refusal, record_report
from core.errors import StoreError
from core.evm.primitives import Address
from core.report.rows import RefusalRow
from sql.engine.postgres.single_statements import SingleStatements
from sql.engine.postgres.write_guard import guard_writes
from sql.fleet import analysis_runs
from sql.fleet.analysis_runs import (
    MOST_DEATHS,
    AnalysisRuns,
    RequestedRun,
    RunState,
    TokenRun,
    TokenRunEnd,
)
from sql.fleet.report_change_feed import ReportChanges
from sql.reports.report_tables import read_report
from tests.harness.bare_reports import bare_report
from tests.harness.parts.empty_databases import EmptyDatabases, connect_store

CHAIN = 1
SETTLED = TokenRunEnd(outcome="settled")
NEXT = NextRefresh(worth=0, due_s=0)


def token(number: int) -> Address:
    return Address(f"0x{number:040x}")


class Deployment:
    """One database, and the processes on it by name."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.statements = SingleStatements(url)

    def process(self, name: str) -> AnalysisRuns:
        return AnalysisRuns(self.statements, holder=name)

    def expire(self) -> None:
        """Let all processes have ended a while ago."""
        with psycopg.connect(self.url) as connection:
            connection.execute("update analysis_run set expires_at = now() - interval '1 s'")

    def state(self, number: int = 1) -> RunState:
        (found,) = self.process("reader").states_of([(CHAIN, token(number))])
        return found


@pytest.fixture
def deployment(empty_databases: EmptyDatabases) -> Iterator[Deployment]:
    with empty_databases.lent() as url:
        found = Deployment(url)
        with closing(found.statements):
            yield found


def ask(runs: AnalysisRuns, number: int = 1, *, is_anew: bool = False) -> RequestedRun:
    found = runs.ask(CHAIN, token(number), is_anew=is_anew)
    assert found is not None
    return found


def take(runs: AnalysisRuns) -> TokenRun:
    (found,) = runs.take_asked(CHAIN, at_most=10)
    return found


def test_a_token_asked_for_twice_is_judged_once(deployment: Deployment) -> None:
    node, judge = deployment.process("node"), deployment.process("judge")
    first, second = ask(node), ask(deployment.process("other node"))
    run = take(judge)
    third = ask(node)
    assert judge.take_asked(CHAIN, at_most=10) == []
    assert not first.is_answered_by(deployment.state())
    assert judge.end(run, SETTLED)
    assert all(
        run_request.is_answered_by(deployment.state()) for run_request in (first, second, third)
    )
    assert not ask(node).is_answered_by(deployment.state())  # requested after its end


def test_what_the_background_has_begun_serves_a_request_but_not_one_anew(
    deployment: Deployment,
) -> None:
    judge, other = deployment.process("judge"), deployment.process("other")
    run = judge.begin(CHAIN, token(1), is_anew=False)
    assert run is not None
    assert other.begin(CHAIN, token(1), is_anew=False) is None
    plain, anew = ask(other), ask(other, is_anew=True)
    assert other.take_asked(CHAIN, at_most=10) == []  # once at a time
    judge.end(run, SETTLED)
    assert plain.is_answered_by(deployment.state())
    assert not anew.is_answered_by(deployment.state())
    again = take(other)
    assert again.is_anew
    other.end(again, SETTLED)
    assert anew.is_answered_by(deployment.state())


def test_a_run_that_is_anew_serves_every_request(deployment: Deployment) -> None:
    judge = deployment.process("judge")
    ask(judge)
    anew = ask(judge, is_anew=True)
    run = take(judge)
    assert run.is_anew
    plain = ask(judge)
    judge.end(run, SETTLED)
    assert plain.is_answered_by(deployment.state())
    assert anew.is_answered_by(deployment.state())


@pytest.mark.parametrize("is_anew", [False, True])
def test_a_run_whose_process_has_ended_is_begun_again_as_it_was(
    deployment: Deployment, *, is_anew: bool
) -> None:
    dead, living = deployment.process("dead"), deployment.process("living")
    run_request = ask(living, is_anew=is_anew)
    lost = take(dead)
    assert living.take_asked(CHAIN, at_most=10) == []
    deployment.expire()
    found = take(living)
    assert found.is_anew == is_anew
    assert not dead.end(lost, SETTLED)  # it wakes up
    assert not run_request.is_answered_by(deployment.state())
    living.end(found, SETTLED)
    assert run_request.is_answered_by(deployment.state())


def test_what_nobody_waits_for_is_not_begun_again(deployment: Deployment) -> None:
    dead, living = deployment.process("dead"), deployment.process("living")
    assert dead.begin(CHAIN, token(1), is_anew=False)
    deployment.expire()
    assert living.take_asked(CHAIN, at_most=10) == []
    assert living.begin(CHAIN, token(1), is_anew=False)


def test_whoever_waited_for_the_background_is_served_when_that_ends(deployment: Deployment) -> None:
    dead, living = deployment.process("dead"), deployment.process("living")
    assert dead.begin(CHAIN, token(1), is_anew=False)
    run_request = ask(living)
    deployment.expire()
    living.end(take(living), SETTLED)
    assert run_request.is_answered_by(deployment.state())


def test_a_run_is_kept_by_being_renewed_and_lost_when_another_has_it(
    deployment: Deployment,
) -> None:
    slow, quick = deployment.process("slow"), deployment.process("quick")
    ask(quick)
    run = take(slow)
    deployment.expire()
    assert [kept.run for kept in slow.renew([run])] == [run.run]
    assert quick.take_asked(CHAIN, at_most=10) == []
    deployment.expire()
    take(quick)
    assert slow.renew([run]) == []


def test_a_process_that_ends_gives_back_what_it_has(deployment: Deployment) -> None:
    leaving, staying = deployment.process("leaving"), deployment.process("staying")
    run_request = ask(staying, is_anew=True)
    take(leaving)
    leaving.begin(CHAIN, token(2), is_anew=False)
    leaving.give_back()
    found = take(staying)
    assert (found.address, found.is_anew) == (token(1), True)
    staying.end(found, SETTLED)
    assert run_request.is_answered_by(deployment.state())


def test_a_token_that_ends_processes_is_given_up_and_says_so(deployment: Deployment) -> None:
    judge = deployment.process("judge")
    run_request = ask(judge)
    for _ in range(MOST_DEATHS):
        assert judge.give_up() == []
        take(judge)
        deployment.expire()
    assert judge.give_up() == [(CHAIN, token(1))]
    assert judge.take_asked(CHAIN, at_most=10) == []
    assert run_request.is_answered_by(deployment.state())
    assert deployment.state().outcome == "failed"
    ask(judge)
    take(judge)  # another request starts another try


def test_the_longest_wait_comes_first_and_a_busy_process_leaves_the_young_to_others(
    deployment: Deployment,
) -> None:
    judge = deployment.process("judge")
    for number in (3, 1, 2):
        ask(judge, number)
    ask(judge, 3, is_anew=True)  # a second request keeps the place
    assert judge.take_asked(CHAIN, at_most=1, older_s=60.0) == []
    taken = [judge.take_asked(CHAIN, at_most=1)[0].address for _ in range(3)]
    assert taken == [token(3), token(1), token(2)]


def test_no_plan_of_the_server_takes_more_tokens_than_there_are_slots(
    deployment: Deployment,
) -> None:
    """A nested loop runs an inner select again for each row, and each time for update."""
    node = deployment.process("node")
    ask(node)
    with psycopg.connect(deployment.url, autocommit=True) as connection:
        connection.execute("vacuum analyze analysis_run")  # it has one row
    for number in range(5):
        ask(node, number)
    plan = "-c enable_hashjoin=off -c enable_mergejoin=off -c enable_material=off"
    with closing(SingleStatements(f"{deployment.url}?options={quote(plan)}")) as statements:
        judge = AnalysisRuns(statements, holder="judge")
        assert [len(judge.take_asked(CHAIN, at_most=2)) for _ in range(3)] == [2, 2, 1]


def test_too_many_tokens_are_refused_at_once_and_known_ones_are_not(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis_runs, "MOST_WAITING", 2)
    node = deployment.process("node")
    ask(node, 1)
    ask(node, 2)
    assert node.ask(CHAIN, token(3), is_anew=False) is None
    ask(node, 2, is_anew=True)
    assert len(node.take_asked(CHAIN, at_most=10)) == 2


def test_a_pending_report_is_shown_to_who_waits_for_that_run(deployment: Deployment) -> None:
    node, judge = deployment.process("node"), deployment.process("judge")
    run_request = ask(node)
    assert node.pending_of(run_request) is None
    run = take(judge)
    judge.show_pending(run, b"so far")
    assert node.pending_of(run_request) == b"so far"
    assert node.pending_of(ask(node, is_anew=True)) is None
    deployment.expire()
    take(node)
    judge.show_pending(run, b"of a process that was taken over")
    assert node.pending_of(run_request) is None


def test_how_a_run_ended_is_told_with_its_words(deployment: Deployment) -> None:
    judge = deployment.process("judge")
    ask(judge)
    judge.end(
        take(judge), TokenRunEnd(outcome="refused", code="not_a_token", reason="no totalSupply")
    )
    state = deployment.state()
    assert (state.outcome, state.code, state.reason) == (
        "refused",
        "not_a_token",
        "no totalSupply",
    )


def test_only_what_ended_long_ago_is_forgotten(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis_runs, "SETTLED_KEPT_S", 0.0)
    judge = deployment.process("judge")
    for number, end in ((1, SETTLED), (2, TokenRunEnd(outcome="failed"))):
        ask(judge, number)
        judge.end(take(judge), end)
    ask(judge, 3)
    judge.delete_ended()
    known = judge.states_of([(CHAIN, token(number)) for number in (1, 2, 3)])
    assert {state.address for state in known} == {token(2), token(3)}


def test_many_processes_never_judge_a_token_at_once_and_lose_no_question(
    deployment: Deployment,
) -> None:
    """Eight threads as processes request, take, begin, end and vanish, by chance."""
    seed = random.randrange(2**32)  # noqa: S311 - chance, not secrecy
    judging: dict[Address, str] = {}
    wrong: list[str] = []
    lock = threading.Lock()

    def play(name: str) -> None:
        dice, runs = random.Random(f"{seed} {name}"), deployment.process(name)  # noqa: S311
        for _ in range(25):
            number = dice.randrange(1, 4)
            ask(runs, number, is_anew=dice.random() < 0.3)
            begun = runs.begin(CHAIN, token(number), is_anew=False)
            taken = runs.take_asked(CHAIN, at_most=2)
            for run in [*taken, *([begun] if begun else [])]:
                with lock:
                    if judging.setdefault(run.address, name) != name:
                        wrong.append(f"{run.address}: {judging[run.address]} and {name}")
                time.sleep(dice.random() / 1e3)
                with lock:
                    judging.pop(run.address, None)
                runs.end(run, SETTLED)

    threads = [threading.Thread(target=play, args=(f"process {at}",)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [], f"seed {seed}"
    last = deployment.process("last")
    while found := last.take_asked(CHAIN, at_most=10):
        for run in found:
            last.end(run, SETTLED)
    states = last.states_of([(CHAIN, token(number)) for number in (1, 2, 3)])
    assert [(state.is_wanted, state.is_running) for state in states] == [(False, False)] * 3


# --- who may write -----------------------------------------------------------------------------


def test_a_process_that_was_taken_over_writes_nothing(deployment: Deployment, path: Path) -> None:
    slow, quick = deployment.process("slow"), deployment.process("quick")
    with closing(connect_store(deployment.url, path=path)) as store:
        ask(quick)
        lost = take(slow)
        deployment.expire()
        taken_run = take(quick)
        with guard_writes(quick.guard_of(taken_run)):
            record_report(store, bare_report(token(1), scanned_at_s=2), NEXT)
        with (
            guard_writes(slow.guard_of(lost)),
            pytest.raises(StoreError, match="another process has taken over"),
        ):
            record_report(store, bare_report(token(1), scanned_at_s=3), NEXT)
        found = read_report(store, chain_id=CHAIN, address=token(1))
        assert found is not None
        assert found.token.scanned_at_s == 2


# --- what has changed --------------------------------------------------------------------------


def test_every_write_of_a_report_is_a_change_of_its_chain(
    deployment: Deployment, path: Path
) -> None:
    changes = ReportChanges(deployment.statements, [CHAIN, 56])
    seen = changes.newest()
    assert seen == {CHAIN: 0, 56: 0}
    with closing(connect_store(deployment.url, path=path)) as store:
        record_report(store, bare_report(token(1)), NEXT)
        record_report(store, bare_report(token(2), chain_id=56), NEXT)
        found = changes.since(seen)
        assert [(one.chain_id, one.address) for one in found] == [(1, token(1)), (56, token(2))]
        seen = changes.newest()
        assert changes.since(seen) == []
        refusal = RefusalRow(code="not_a_token", reason="", refused_at_s=1)
        record_refusal(store, chain_id=CHAIN, address=token(1), refusal=refusal, refresh=NEXT)
        assert [one.address for one in changes.since(seen)] == [token(1)]
        record_report(store, bare_report(token(1)), NEXT)
        record_report(store, bare_report(token(1)), NEXT)
        assert [one.address for one in changes.since(seen)] == [token(1)]  # one row, the newest
