"""Protects the store against kill -9 of a process that follows, finalizes and compacts."""

import subprocess

import pytest

from tests.harness.fault_simulation import real_kills
from tests.harness.fault_simulation.real_kills import kill_followers

pytestmark = pytest.mark.process


def test_whatever_a_kill_leaves_behind_is_a_branch_of_the_chain() -> None:
    outcome = kill_followers(4, seed=1)
    assert outcome.kills == 4
    assert not outcome.differences, (outcome.steps, outcome.differences)


def test_a_process_that_cannot_begin_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(["false"])  # noqa: S607 - from the PATH

    monkeypatch.setattr(real_kills, "start_follower", broken)
    with pytest.raises(AssertionError, match="does not come level"):
        kill_followers(1, seed=1)
