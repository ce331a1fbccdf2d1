"""After any history of forks, lying nodes, full disks and kills, the store equals the chain."""

import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.harness.examples import one_in
from tests.harness.fault_simulation import real_kills
from tests.harness.fault_simulation.fault_history import run_history
from tests.harness.fault_simulation.real_kills import kill_followers
from tests.harness.indexer.follow_machine import Following

HISTORIES = 90

AT_ONCE = 30
"""Seeds of a group: a test for each would cost more than some histories."""

GROUPS = [
    pytest.param(first, marks=pytest.mark.exhaustive if first > 1_000_000 else ())
    for first in range(1_000_000, 1_000_000 + HISTORIES, AT_ONCE)
]
"""First seeds of the groups. All but one run with `make test-long`."""

SEEDS: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "seeds.toml").read_text(encoding="utf-8")
)["seed"]


def assert_equal(seed: int) -> None:
    outcome = run_history(seed)
    assert not outcome.differences, (seed, outcome.steps, outcome.differences)


@pytest.mark.parametrize("number", [seed["number"] for seed in SEEDS])
def test_what_has_once_been_wrong(number: int) -> None:
    assert_equal(number)


@pytest.mark.parametrize("first", GROUPS)
def test_after_a_history_of_faults_the_store_equals_the_chain(first: int) -> None:
    for seed in range(first, first + AT_ONCE):
        assert_equal(seed)


def test_a_history_repeats_itself() -> None:
    assert run_history(7).steps == run_history(7).steps


Following.TestCase.settings = settings(
    max_examples=one_in(6),
    stateful_step_count=12,
    suppress_health_check=list(HealthCheck),
)

test_following = Following.TestCase

# --- real kills ---------------------------------------------------------------------------------


@pytest.mark.process
def test_whatever_a_kill_leaves_behind_is_a_branch_of_the_chain() -> None:
    outcome = kill_followers(4, seed=1)
    assert outcome.kills == 4
    assert not outcome.differences, (outcome.steps, outcome.differences)


@pytest.mark.process
def test_a_process_that_cannot_begin_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(["false"])  # noqa: S607 - from the PATH

    monkeypatch.setattr(real_kills, "start_follower", broken)
    with pytest.raises(AssertionError, match="does not come level"):
        kill_followers(1, seed=1)
