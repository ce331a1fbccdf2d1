"""The node as the chain tests have it, with venues and anchors and no zoo."""

import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.indexed_facts import NoFactsIndex
from assay.demo.anvil import AnvilNode
from assay.demo.layout import World
from assay.demo.world import build_market
from config.facts.chain import Chain as ChainFacts
from config.settings import AnalysisSettings
from core.rpc.client import RpcClient
from tests.harness.chain.fixtures import anvil_node, artifacts, facts, node_client
from tests.harness.chain.in_memory_results import new_static_results
from tests.harness.redteam.ordinary_people import People

__all__ = ["anvil_node", "artifacts", "facts", "node_client"]


@pytest.fixture(scope="session")
def demo_world(anvil_node: AnvilNode) -> World:
    """Place for traps. Fewer contracts than the demo's world make blocks cheap."""
    return build_market(anvil_node)


@pytest.fixture(scope="module")
def people(anvil_node: AnvilNode) -> People:
    return People(anvil_node)


@pytest.fixture
def context(node_client: RpcClient, facts: ChainFacts, anvil_node: AnvilNode) -> ChainContext:
    """Context on the chain's clock, without liquidity holders.

    A withdrawing maker would keep every verdict from `safe`, and hide the effect of the code.
    """
    now_s = anvil_node.head_time()
    return ChainContext(
        chain=facts,
        node=node_client,
        index=NoFactsIndex(),
        settings=AnalysisSettings(liquidity_holders="never"),
        now_s=lambda: now_s,
        static_results=new_static_results(),
    )
