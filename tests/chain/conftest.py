"""A real node with the demo's world, once per session; every test on it is rolled back.

A missing node is an error, never a skip.
"""

from collections.abc import Iterator

import pytest

from demo.anvil import AnvilNode
from demo.compile import Artifacts, load_artifacts
from demo.layout import World
from demo.world import build_world
from tests.chain.verbs import Chain


@pytest.fixture(scope="session")
def anvil_node() -> Iterator[AnvilNode]:
    """A node on a free port. Holds the world as soon as a test asks for `world`."""
    with AnvilNode() as node:
        yield node


@pytest.fixture(scope="session")
def artifacts() -> Artifacts:
    return load_artifacts()


@pytest.fixture(scope="session")
def world(anvil_node: AnvilNode) -> World:
    """Anchors, venues and the zoo, built once on `anvil_node`."""
    return build_world(anvil_node)


@pytest.fixture
def chain(anvil_node: AnvilNode, world: World, artifacts: Artifacts) -> Iterator[Chain]:
    """The world as it was built, whatever other tests did to it."""
    snapshot = anvil_node.snapshot()
    yield Chain(anvil_node, world, artifacts)
    anvil_node.revert(snapshot)
