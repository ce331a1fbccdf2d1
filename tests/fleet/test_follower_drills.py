"""Protects a chain that two processes may follow: one does, the other takes over, nothing is lost
or twice."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.harness.fleet.follower_drill import FAULTS, Fault, two_followers
from tests.harness.parts.empty_databases import EmptyDatabases

pytestmark = pytest.mark.process

EXPIRED_WITHIN_S = 5.0
"""A lease of 3 s, renewed at most a second before, and a look every 0.4 s."""
GIVEN_UP_WITHIN_S = 3.0
SKEW_S = 300.0


IN_CI: tuple[Fault, ...] = ("kill", "pause")
"""Faults tried in CI. The others differ in the time until they show."""


@pytest.mark.parametrize(
    "fault",
    [pytest.param(one, marks=() if one in IN_CI else pytest.mark.drill) for one in FAULTS],
)
def test_another_follower_takes_over(fault: Fault, empty_databases: EmptyDatabases) -> None:
    with empty_databases.lent() as url, two_followers(url, seed=FAULTS.index(fault)) as drill:
        outcome = drill.suffer(fault)
    assert not outcome.differences
    most_s = GIVEN_UP_WITHIN_S if fault == "stop" else EXPIRED_WITHIN_S
    assert outcome.taken_over_s < most_s


def test_clocks_that_differ_by_minutes_do_not_matter(empty_databases: EmptyDatabases) -> None:
    """The clock of the database decides which lease has expired."""
    with (
        empty_databases.lent() as url,
        two_followers(url, seed=7, skew_s=SKEW_S) as drill,
    ):
        outcomes = [drill.suffer("pause"), drill.suffer("pause")]  # either is the one that leads
    assert not [outcome.differences for outcome in outcomes if outcome.differences]
    assert max(outcome.taken_over_s for outcome in outcomes) < EXPIRED_WITHIN_S


@pytest.mark.parametrize("skew_s", [SKEW_S, -SKEW_S])
def test_a_skewed_process_has_another_time(skew_s: float, tmp_path: Path) -> None:
    (tmp_path / "tell.py").write_text("from time import time\nprint(time())\n")
    words = [sys.executable, "-m", "tests.harness.fleet.skewed_clock", str(skew_s), "tell"]
    path = os.pathsep.join([str(Path.cwd()), str(tmp_path)])
    env = {**os.environ, "PYTHONPATH": path}
    printed = subprocess.run(words, env=env, capture_output=True, check=True, text=True).stdout
    assert abs(float(printed) - time.time() - skew_s) < SKEW_S / 2
