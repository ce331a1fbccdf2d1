"""A node with every old state. Taking a world back, as other tests do, would lose them."""

from collections.abc import Iterator

import pytest

from assay.demo.anvil import AnvilNode
from assay.demo.compile import Artifacts
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.demo.world import build_world
from config.facts.chain import Chain as ChainFacts
from config.facts.load_chains import load_chains
from tests.harness.chain.transactions import Chain


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


@pytest.fixture
def chain(anvil_node: AnvilNode, demo_world: World, artifacts: Artifacts) -> Chain:
    return Chain(anvil_node, demo_world, artifacts)
