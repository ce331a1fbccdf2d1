"""The node as the chain tests have it, with venues and anchors and no zoo."""

import pytest

from demo.anvil import AnvilNode
from demo.layout import World
from demo.world import build_market
from tests.chain.conftest import anvil_node, artifacts, client, facts

__all__ = ["anvil_node", "artifacts", "client", "facts"]


@pytest.fixture(scope="session")
def world(anvil_node: AnvilNode) -> World:
    """Where traps are placed. Fewer contracts than the demo's world make blocks cheap."""
    return build_market(anvil_node)
