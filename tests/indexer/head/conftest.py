"""A real node with the demo's world, restarted for each test that changes its chain."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.demo.trader import Trader
from assay.demo.world import build_world
from config.facts.chain import Chain
from config.facts.load_chains import load_chains


class LiveChain(msgspec.Struct, frozen=True):
    """A node, its contracts, and the configuration that describes it."""

    node: AnvilNode
    world: World
    trader: Trader
    overlay: Path
    chain: Chain

    def trade(self, count: int) -> None:
        """Real swaps, a block each."""
        for _ in range(count):
            self.trader.trade()
            self.node.mine()


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveChain]:
    with AnvilNode() as node:
        world = build_world(node)
        overlay = write_overlay(world, tmp_path / "overlay")
        chain = next(chain for chain in load_chains(overlay) if chain.slug == "ethereum")
        yield LiveChain(node, world, Trader(node, world), overlay, chain)
