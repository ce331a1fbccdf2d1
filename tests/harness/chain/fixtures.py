"""A real node with the demo's world, once per session; every test on it is rolled back.

A missing node is an error, never a skip.
"""

import time
from collections.abc import AsyncIterator, Iterator

import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.indexed_facts import NoFactsIndex
from assay.demo.anvil import AnvilNode
from assay.demo.compile import Artifacts, load_artifacts
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.demo.world import build_world
from config.facts.chain import Chain as ChainFacts
from config.facts.load_chains import load_chains
from config.settings import AnalysisSettings, RpcSettings
from core.rpc.client import RpcClient
from tests.harness.chain.in_memory_results import new_static_results
from tests.harness.chain.transactions import Chain


@pytest.fixture(scope="session")
def anvil_node() -> Iterator[AnvilNode]:
    """A node on a free port. Holds the world once a test requests `world`."""
    with AnvilNode() as node:
        yield node


@pytest.fixture(scope="session")
def artifacts() -> Artifacts:
    return load_artifacts()


@pytest.fixture(scope="session")
def demo_world(anvil_node: AnvilNode) -> World:
    """Anchors, venues and the zoo, built once on `anvil_node`."""
    return build_world(anvil_node)


@pytest.fixture
def chain(anvil_node: AnvilNode, demo_world: World, artifacts: Artifacts) -> Iterator[Chain]:
    """World as it was built, whatever other tests did to it."""
    snapshot = anvil_node.snapshot()
    yield Chain(anvil_node, demo_world, artifacts)
    anvil_node.revert(snapshot)


@pytest.fixture
async def node_client(anvil_node: AnvilNode) -> AsyncIterator[RpcClient]:
    client = await RpcClient.connect((anvil_node.url,), anvil_node.chain_id, RpcSettings())
    yield client
    await client.aclose()


@pytest.fixture(scope="session")
def facts(demo_world: World, tmp_path_factory: pytest.TempPathFactory) -> ChainFacts:
    """The world as the service knows it: through the overlay that a deployment would write."""
    overlay = write_overlay(demo_world, tmp_path_factory.mktemp("overlay"))
    return next(chain for chain in load_chains(overlay) if chain.slug == "ethereum")


@pytest.fixture
def context(anvil_node: AnvilNode, node_client: RpcClient, facts: ChainFacts) -> ChainContext:
    # Every test begins at the world's last block: the longer ago that is, the later the clock.
    behind_s = max(0, time.time() - anvil_node.head_time())
    return ChainContext(
        chain=facts,
        node=node_client,
        index=NoFactsIndex(),
        settings=AnalysisSettings(),
        now_s=lambda: time.time() - behind_s,
        static_results=new_static_results(),
    )
