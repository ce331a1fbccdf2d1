"""World of the demo on a node of this machine, with an RPC client."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.demo.world import build_world
from config.facts.chain import Chain
from config.facts.load_chains import load_chains
from config.settings import RpcSettings
from core.rpc.client import RpcClient


class DemoWorld(msgspec.Struct, frozen=True, kw_only=True):
    """A node with the demo's tokens, and a client of it."""

    node: AnvilNode
    world: World
    chain: Chain
    client: RpcClient


@asynccontextmanager
async def demo_world() -> AsyncIterator[DemoWorld]:
    """Start a node and build the world, removed at the end."""
    with AnvilNode() as node, tempfile.TemporaryDirectory() as folder:
        world = build_world(node)
        overlay = write_overlay(world, Path(folder))
        chain = next(chain for chain in load_chains(overlay) if chain.id == node.chain_id)
        client = await RpcClient.connect((node.url,), chain.id, RpcSettings())
        try:
            yield DemoWorld(node=node, world=world, chain=chain, client=client)
        finally:
            await client.aclose()
