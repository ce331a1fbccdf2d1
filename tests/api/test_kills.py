"""Protects what a kill may cost: no call of a lifetime, of a day those of the last second."""

import random
import subprocess
import sys

import msgspec

from harness.api.kills import Outcome
from tests.house.sources import ROOT

KILLS = 25


def test_a_kill_loses_and_doubles_nothing_that_was_to_be_kept() -> None:
    """In a process of its own, which forks; `benchmarks/kills.py` does it a thousand times."""
    seed = random.randrange(2**32)  # noqa: S311 - chance, not secrecy
    run = subprocess.run(
        [sys.executable, "-m", "harness.api.kills", str(KILLS), str(seed)],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    outcome = msgspec.json.decode(run.stdout, type=Outcome)
    assert outcome.kills == KILLS
    assert outcome.calls > 10 * KILLS
    assert (outcome.lost, outcome.doubled) == (0, 0), f"seed {seed}: {outcome}"
