"""After any history of forks, lies, crashes and silences, the tables equal the canonical chain."""

from hypothesis import HealthCheck, settings

from tests.harness.examples import one_in
from tests.harness.indexer.follow_machine import Following

Following.TestCase.settings = settings(
    max_examples=one_in(6),
    stateful_step_count=12,
    suppress_health_check=list(HealthCheck),
)
test_following = Following.TestCase
