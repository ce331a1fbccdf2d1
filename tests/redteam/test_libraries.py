"""Honest tokens of the most used libraries: only their own functions cause warnings."""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.anvil import AnvilNode
from assay.demo.compile import Artifacts, compile_sources
from assay.demo.layout import World
from assay.demo.npm_packages import NODE_MODULES
from tests.harness.redteam.ordinary_people import People
from tests.harness.redteam.outcome_check import ask
from tests.harness.redteam.placed_traps import Placed, compile_traps, place_traps
from tests.harness.redteam.trap_model import Trap

pytestmark = pytest.mark.compiler

SOURCES: Final = Path(__file__).resolve().parent / "libraries"
IMPORT: Final = re.compile(r"""import\s+(?:[^"';]*from\s+)?["']([^"']+)["']""")

FOUND: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(
        (
            "Governance",
            "Votes4",
            "VotesComp4",
            "Votes5",
            "TimedVotes5",
            "FlashMint5",
            "Lady",
            "Mate",
        ),
        frozenset(),
    ),
    # Holders may burn what is theirs.
    "Snapshot4": frozenset({"mint_or_burn_function"}),
    "Payable5": frozenset({"mint_or_burn_function"}),
}
"""Checks that found something, by contract; all are `info`."""


def with_imports(name: str, text: str) -> Iterator[tuple[str, str]]:
    """The file and all that it imports, each once or more."""
    yield name, text
    for wanted in IMPORT.findall(text):
        is_relative = wanted.startswith(".")
        path = posixpath.join(posixpath.dirname(name), wanted) if is_relative else wanted
        found = posixpath.normpath(path)
        yield from with_imports(found, (NODE_MODULES / found).read_text())


def compile_libraries() -> Artifacts:
    artifacts: Artifacts = {}
    for source in sorted(SOURCES.glob("*.sol")):
        artifacts |= compile_sources(dict(with_imports(source.name, source.read_text())))
    return artifacts


@pytest.fixture(scope="module")
def stage(
    anvil_node: AnvilNode, demo_world: World, artifacts: Artifacts, people: People
) -> dict[str, Placed]:
    """All of them on the chain, each with a pool."""
    tokens = [
        Trap(name=name, axis="library", label=name, source="", is_honest=True) for name in FOUND
    ]
    compiled = artifacts | compile_traps([]) | compile_libraries()
    placed = place_traps(anvil_node, demo_world, compiled, tokens)
    people.bustle()
    return {one.trap.name: one for one in placed}


@pytest.mark.parametrize("name", FOUND)
async def test_an_honest_library_token_is_safe(
    stage: dict[str, Placed], context: ChainContext, name: str
) -> None:
    said = await ask(context, stage[name])
    harmless = {"transfer_guarded_by_storage", "transfer_from_guarded_by_storage", "external_call"}
    assert {*said.active} - harmless == FOUND[name]
    assert said.verdict == "safe"
    assert (said.buy, said.sell, said.buy_tax, said.sell_tax) == (True, True, 0, 0)
    assert (said.drained, said.bypassed) == (False, False)
