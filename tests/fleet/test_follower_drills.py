"""Protects a chain that two processes may follow: one does, the other takes over, nothing is lost
or twice."""

import pytest

from harness.fleet.follower_drill import FAULTS, Fault, two_followers
from harness.parts.empty_databases import EmptyDatabases

EXPIRED_WITHIN_S = 5.0
"""A lease of 3 s, renewed at most a second before, and a look every 0.4 s."""
GIVEN_UP_WITHIN_S = 3.0


@pytest.mark.parametrize("fault", FAULTS)
def test_another_follower_takes_over(fault: Fault, empty_databases: EmptyDatabases) -> None:
    with empty_databases.lent() as url, two_followers(url, seed=FAULTS.index(fault)) as drill:
        outcome = drill.suffer(fault)
    assert not outcome.differences
    most_s = GIVEN_UP_WITHIN_S if fault == "stop" else EXPIRED_WITHIN_S
    assert outcome.taken_over_s < most_s
