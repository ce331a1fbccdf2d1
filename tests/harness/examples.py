"""Number of examples of a test: those of a commit, or those of a night."""

from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet
from hypothesis import settings

NIGHTLY = "long"
"""The profile of `make test-long`."""


def one_in(divisor: int) -> int:
    """The number of examples for a property whose examples are expensive; at least 3.

    Of thirty in CI and with `make test-all`, of 25 in other runs, and of a thousand by night.
    """
    usual = settings.default
    assert usual is not None
    return max(3, usual.max_examples // divisor)


def is_night() -> bool:
    """True if a test may try everything: with `make test-long`."""
    return settings.get_current_profile_name() == NIGHTLY


def part_of(things: Iterable[object], *, one_in: int, first: int = 0) -> list[ParameterSet]:
    """Parameters for a test of many alike: every n-th in CI, all with `make test-long`."""
    return [
        pytest.param(thing, marks=() if number % one_in == first else pytest.mark.exhaustive)
        for number, thing in enumerate(things)
    ]


def spread(combinations: Iterable[tuple[str, str]], *, one_in: int) -> list[ParameterSet]:
    """Parameters for a test of things in places: in CI each thing in every n-th of its places and
    in one at least, beginning elsewhere each time; all combinations with `make test-long`.
    """
    places: dict[str, list[str]] = {}
    for thing, place in combinations:
        places.setdefault(thing, []).append(place)
    found: list[ParameterSet] = []
    for number, (thing, its) in enumerate(places.items()):
        usual = its[number % min(one_in, len(its)) :: one_in]
        for place in its:
            mark = () if place in usual else pytest.mark.exhaustive
            found.append(pytest.param(thing, place, marks=mark))
    return found
