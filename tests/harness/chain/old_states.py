"""Fixtures of a node for one module that keeps the states in which its world was built.

That of the session counts states that were taken back too, so it loses the world's. A module that
needs them assigns these to the names of the session's.
"""

from collections.abc import Iterator

import pytest

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.demo.world import build_world
from config.facts.chain import Chain as ChainFacts
from config.facts.load_chains import load_chains


@pytest.fixture(scope="module")
def anvil_node() -> Iterator[AnvilNode]:
    with AnvilNode(states_kept=10_000) as node:
        yield node


@pytest.fixture(scope="module")
def demo_world(anvil_node: AnvilNode) -> World:
    return build_world(anvil_node)


@pytest.fixture(scope="module")
def facts(demo_world: World, tmp_path_factory: pytest.TempPathFactory) -> ChainFacts:
    overlay = write_overlay(demo_world, tmp_path_factory.mktemp("overlay"))
    return next(chain for chain in load_chains(overlay) if chain.slug == "ethereum")
