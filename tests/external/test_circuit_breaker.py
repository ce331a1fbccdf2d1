"""Protects services that are down: no requests for a while, then new ones."""

import pytest

from analysis.external.host import CircuitBreaker

OPEN_S = 30.0


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.mark.parametrize(
    ("story", "is_open"),
    [
        ("", False),
        ("ff", False),
        ("fff", True),
        ("fffff", True),
        ("ffsff", False),
        ("ffsfff", True),
        ("fff.", False),  # the pause is over: a new request
        ("fff.f", True),  # and left alone again at the first failure
        ("fff.s", False),
        ("fff.sff", False),
        ("fff.sfff", True),
    ],
)
def test_three_failures_in_a_row_open_it(story: str, is_open: bool) -> None:
    clock = Clock()
    breaker = CircuitBreaker(failures=3, open_s=OPEN_S, monotonic_s=clock)
    for step in story:
        match step:
            case "f":
                breaker.note_failure()
            case "s":
                breaker.note_success()
            case _:
                clock.now_s += OPEN_S
    assert breaker.is_open is is_open
