"""How long it takes to find out who holds the liquidity, and what that asks of the node.

On a node of this machine, as it is and with 50 ms added to each round trip: a token with one pair,
and one with a pool of positions.
"""

import asyncio
import tempfile
from pathlib import Path

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.liquidity_inquiry import find_liquidity
from benchmarks._machine import describe
from benchmarks.quotes import ROUNDS, context_of, measure, settled
from config.chains import Chain
from config.load import load_chains
from config.settings_model import RpcSettings
from core.report import Report
from core.rpc.client import RpcClient
from demo.anvil import AnvilNode
from demo.layout import World
from demo.overlay import write_overlay
from demo.world import build_world


async def run(chain: Chain, world: World, client: RpcClient) -> None:
    """Print the table."""
    for venue in ("v2", "v3", "v4"):
        traded = [token for token in world.tokens if token.pool.venue == venue]
        token = next((token for token in traded if token.key == "honest"), traded[0])
        report = await settled(context_of(chain, client), token.address)

        async def find(context: ChainContext, report: Report = report) -> object:
            return await find_liquidity(context, report.token.address, report)

        await measure(f"liquidity of a {venue} pool", chain, client, find)


async def main() -> None:
    """Start the node, and print the table."""
    with AnvilNode() as node, tempfile.TemporaryDirectory() as folder:
        world = build_world(node)
        overlay = write_overlay(world, Path(folder))
        chain = next(chain for chain in load_chains(overlay) if chain.id == node.chain_id)
        client = await RpcClient.connect((node.url,), chain.id, RpcSettings())
        print(describe(f"{ROUNDS} rounds"))
        await run(chain, world, client)
        await client.aclose()


if __name__ == "__main__":
    asyncio.run(main())
