"""Protects the cost of a kill: no call of a lifetime is lost, and of others only the last second's.

No limit is passed, however many nodes count when they are killed.
"""

import random
import subprocess
import sys

import msgspec
import pytest

from tests.harness.api.counting_kills import KillsSpec, Outcome
from tests.harness.parts.empty_databases import EmptyDatabases
from tests.harness.parts.valkey_server import running_valkey
from tests.house.sources import ROOT

pytestmark = [pytest.mark.process, pytest.mark.fleet]

KILLS = 16
KILLS_ON_DATABASE = 8
_AT_MOST_S = 180.0
"""Until a limit of each sort was reached, on a machine that does much else."""


def test_kills_lose_and_double_nothing_that_was_to_be_kept() -> None:
    """`tests/drills/kills.py` does it a thousand times."""
    outcome = check(KILLS)
    assert outcome.window_calls == 0


def test_nor_do_kills_of_nodes_on_one_database_and_one_valkey(
    empty_databases: EmptyDatabases,
) -> None:
    with running_valkey() as valkey:
        outcome = check(KILLS_ON_DATABASE, url=empty_databases.create_bare(), redis_url=valkey.url)
    assert outcome.full_windows > outcome.not_shared


def check(kills: int, url: str | None = None, redis_url: str | None = None) -> Outcome:
    """Run the drill in a separate process, as it forks."""
    seed = random.randrange(2**32)  # noqa: S311 - chance, not secrecy
    spec = KillsSpec(calls=10 * kills, kills=kills, seed=seed, url=url, redis_url=redis_url)
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.harness.api.counting_kills",
            msgspec.json.encode(spec).decode(),
        ],
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=_AT_MOST_S,
    )
    outcome = msgspec.json.decode(run.stdout, type=Outcome)
    assert outcome.kills >= kills
    assert outcome.spent_keys > 0
    found = (outcome.lost, outcome.doubled, outcome.beyond, outcome.beyond_window)
    assert found == (0, 0, 0, 0), f"seed {seed}: {outcome}"
    return outcome
