"""Some dozens of generated launches through the whole: real buyers, the follower, the command.

`python -m benchmarks.backtest` does the same with thousands.
"""

from pathlib import Path

import pytest

from tests.harness.redteam.launches.launch_batch import LaunchResult, run_batch
from tests.harness.redteam.launches.launch_kinds import KINDS, compose_launches, launch_of

pytestmark = [pytest.mark.node, pytest.mark.compiler, pytest.mark.process]

COMPOSED = 12
SEED = 5


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> list[list[LaunchResult]]:
    """Each plain kind once, with its owner's possible acts, and some of a seed.

    Analysed without liquidity holders, and as the service does by default.
    """
    every_kind = [launch_of(f"Every{at}", kind) for at, kind in enumerate(KINDS)]
    folder: Path = tmp_path_factory.mktemp("launches")
    launches = [*every_kind, *compose_launches(SEED, COMPOSED)]
    return run_batch(launches, folder, liquidity_modes=("never", "young"))


@pytest.fixture
def results(judged: list[list[LaunchResult]]) -> list[LaunchResult]:
    """Results by the code alone."""
    return judged[0]


@pytest.fixture
def usual(judged: list[list[LaunchResult]]) -> list[LaunchResult]:
    """Results of the service's default."""
    return judged[1]


def labels_of(results: list[LaunchResult]) -> list[str]:
    return [f"{one.truth.label}: {one.truth.words}" for one in results]


def test_what_trapped_within_the_hour_was_not_called_safe(usual: list[LaunchResult]) -> None:
    assert not labels_of([one for one in usual if one.is_false_safe])
    assert any(one.verdict == "safe" for one in usual)


def test_the_code_alone_keeps_traps_from_safe(results: list[LaunchResult]) -> None:
    assert not labels_of([one for one in results if one.is_false_safe and one.is_in_code])
    assert any(one.is_false_safe for one in results), "nothing shows what the question is for"


def test_each_kind_does_what_it_is_for(results: list[LaunchResult]) -> None:
    """Test of the instrument itself: by receipts and balances, without the service."""
    trapped = {one.truth.label: one.trapped["hour"] for one in results[: len(KINDS)]}
    assert trapped == {one.truth.label: not one.truth.is_honest for one in results[: len(KINDS)]}


def test_the_command_scores_as_receipts_and_balances_do(results: list[LaunchResult]) -> None:
    wrong = [
        f"{one.truth.label}: {one.scored['hour']}, but {one.truth.words}"
        for one in results[: len(KINDS)]
        if (one.scored["hour"] == "trapped") is not one.truth.has_bad_trade("hour")
    ]
    assert not wrong, "\n".join(wrong)
    # A plain launch is seen through to its sales.
    assert all(one.scored["hour"] == "sold" for one in results if one.truth.axis == "plain")


def test_plain_launches_are_judged_and_not_called_dangerous(results: list[LaunchResult]) -> None:
    said = {one.truth.label: one.verdict for one in results if one.truth.axis == "plain"}
    assert set(said.values()) <= {"safe", "warning"}, said
    assert "safe" in said.values()
