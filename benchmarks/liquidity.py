"""How long it takes to find out who holds the liquidity, and what that asks of the node.

On a node of this machine, as it is and with 50 ms added to each round trip: a token with one pair,
and one with a pool of positions.
"""

import asyncio

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.liquidity_inquiry import find_liquidity
from benchmarks._demo_world import demo_world
from benchmarks._machine import describe
from benchmarks.quotes import ROUNDS, context_of, measure, settled
from config.chains import Chain
from core.report import Report
from core.rpc.client import RpcClient
from demo.layout import World


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
    async with demo_world() as demo:
        print(describe(f"{ROUNDS} rounds"))
        await run(demo.chain, demo.world, demo.client)


if __name__ == "__main__":
    asyncio.run(main())
