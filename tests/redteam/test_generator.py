"""The generator composes the same from the same seed, and leaves no class out."""

import random

from tests.harness.redteam.fixed_traps import LUCKY, NOT_YET, VARIANTS
from tests.harness.redteam.generator import CONDITIONS, compose


def test_every_class_has_three_traps_of_its_own() -> None:
    traps = [trap for trap in VARIANTS if not trap.is_honest]
    axes = {trap.axis for trap in VARIANTS}
    few = {axis for axis in axes if sum(trap.axis == axis for trap in traps) < 3}
    assert not few
    assert len({trap.name for trap in VARIANTS}) == len(VARIANTS)
    labels = " ".join(trap.label for trap in VARIANTS)
    missing = {condition for condition in _keys() if condition not in labels}
    assert not missing


def test_what_is_not_yet_right_is_a_row() -> None:
    assert {trap.name for trap in VARIANTS} >= NOT_YET | LUCKY


def test_a_seed_always_composes_the_same() -> None:
    assert compose(3, 30) == compose(3, 30)
    assert compose(3, 30) != compose(4, 30)


def test_every_class_is_an_axis_of_the_generator() -> None:
    composed = {trap.axis for trap in compose(1, 300)}
    assert {trap.axis for trap in VARIANTS} <= composed


def _keys() -> set[str]:
    return {make(random.Random(0)).key for make in CONDITIONS}  # noqa: S311
