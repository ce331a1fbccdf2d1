"""After any history of forks, lying nodes, full disks and crashes, the store equals the chain."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.harness.examples import one_in
from tests.harness.fault_simulation.fault_history import run_history
from tests.harness.indexer.follow_machine import Following

HISTORIES = 90
"""Seeds from 0 on, in groups: a test for each would cost more than some histories."""
AT_ONCE = 30

SEEDS: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "seeds.toml").read_text(encoding="utf-8")
)["seed"]


def assert_equal(seed: int) -> None:
    outcome = run_history(seed)
    assert not outcome.differences, (seed, outcome.steps, outcome.differences)


@pytest.mark.parametrize("number", [seed["number"] for seed in SEEDS])
def test_what_has_once_been_wrong(number: int) -> None:
    assert_equal(number)


@pytest.mark.parametrize("first", range(1_000_000, 1_000_000 + HISTORIES, AT_ONCE))
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
