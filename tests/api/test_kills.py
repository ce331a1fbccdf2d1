"""Protects what a kill may cost: no call of a lifetime, of a day those of the last second."""

import random
import subprocess
import sys

import msgspec

from harness.api.kills import Outcome
from harness.parts.empty_databases import EmptyDatabases
from tests.house.sources import ROOT

KILLS = 25
KILLS_OF_NODES = 5


def test_a_kill_loses_and_doubles_nothing_that_was_to_be_kept() -> None:
    """In a process of its own, which forks; `benchmarks/kills.py` does it a thousand times."""
    check(KILLS)


def test_nor_do_kills_of_two_nodes_on_one_database(empty_databases: EmptyDatabases) -> None:
    check(KILLS_OF_NODES, empty_databases.create_bare())


def check(kills: int, *url: str) -> None:
    seed = random.randrange(2**32)  # noqa: S311 - chance, not secrecy
    run = subprocess.run(
        [sys.executable, "-m", "harness.api.kills", str(kills), str(seed), *url],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    outcome = msgspec.json.decode(run.stdout, type=Outcome)
    assert outcome.kills == kills
    assert outcome.calls > 10 * kills
    assert (outcome.lost, outcome.doubled) == (0, 0), f"seed {seed}: {outcome}"
