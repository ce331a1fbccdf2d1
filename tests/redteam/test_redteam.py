"""The service against traps written to fool it.

Tokens on which ordinary people lose are never called safe, and harmless ones never dangerous. Each
trap is traded and robbed for real; `tests/harness/redteam/outcome_check.py` defines a wrong answer.
"""

import asyncio
import random
from collections.abc import Iterator

import pytest
from _pytest.mark import ParameterSet

from analysis.pipeline.chain_context import ChainContext
from assay.demo.anvil import AnvilNode
from assay.demo.compile import Artifacts
from assay.demo.layout import World
from tests.harness.examples import is_night, spread
from tests.harness.redteam.fixed_traps import LUCKY, NOT_YET, VARIANTS
from tests.harness.redteam.generator import CONDITIONS, compose
from tests.harness.redteam.ordinary_people import People
from tests.harness.redteam.outcome_check import ask, compare, judge_all, render
from tests.harness.redteam.placed_traps import Placed, compile_traps, place_traps
from tests.harness.redteam.real_outcomes import live
from tests.harness.redteam.trap_model import Trap


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


SAMPLE = 40 if is_night() else 12
SAMPLE_SEED = 11


def marks(name: str) -> list[pytest.MarkDecorator]:
    """Mark the traps that the service still gets wrong as expected failures."""
    if name not in NOT_YET:
        return []
    return [pytest.mark.xfail(reason="not yet", strict=name not in LUCKY)]


@pytest.fixture(scope="module")
def stage(
    request: pytest.FixtureRequest,
    anvil_node: AnvilNode,
    demo_world: World,
    artifacts: Artifacts,
    people: People,
) -> dict[str, Placed]:
    """The fixed traps of the tests that are to run, and some ordinary blocks on top."""
    called = (getattr(item, "callspec", None) for item in request.session.items)
    asked_for = {call.params.get("name") for call in called if call is not None}
    traps = tuple(trap for trap in VARIANTS if trap.name in asked_for)
    placed = placed_on(anvil_node, demo_world, artifacts, traps)
    people.bustle()
    return {one.trap.name: one for one in placed}


def placed_on(
    node: AnvilNode, world: World, artifacts: Artifacts, traps: tuple[Trap, ...]
) -> list[Placed]:
    return place_traps(node, world, artifacts | compile_traps(traps), traps)


def names() -> Iterator[ParameterSet]:
    """Yield every eighth trap of each sort in CI, and one at least."""
    sorts = ((f"{trap.axis}, honest: {trap.is_honest}", trap.name) for trap in VARIANTS)
    for found in spread(sorts, one_in=8):
        name = str(found.values[-1])
        yield pytest.param(name, marks=[*found.marks, *marks(name)])


@pytest.mark.parametrize("name", list(names()))
async def test_the_answer_fits_what_happens(
    demo_world: World, people: People, stage: dict[str, Placed], context: ChainContext, name: str
) -> None:
    placed = stage[name]
    said = await ask(context, placed)
    truth = await asyncio.to_thread(live, people, demo_world, placed)
    finding = compare(placed, truth, said)
    assert truth.hurts is not placed.trap.is_honest, truth.words  # the instrument itself
    assert not finding.wrong, render([finding])


async def test_nothing_composed_at_random_is_called_safe(
    anvil_node: AnvilNode,
    demo_world: World,
    artifacts: Artifacts,
    people: People,
    context: ChainContext,
) -> None:
    traps = tuple(compose(SAMPLE_SEED, SAMPLE))
    snapshot = anvil_node.snapshot()
    try:
        placed = placed_on(anvil_node, demo_world, artifacts, traps)
        people.bustle()
        findings = await judge_all(context, people, demo_world, placed)
    finally:
        anvil_node.revert(snapshot)
    assert not [one for one in findings if one.wrong], render(findings)
