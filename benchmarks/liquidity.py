"""How long it takes to find out who holds the liquidity, and what that asks of the node.

On a node of this machine, as it is and with 50 ms added to each round trip: tokens with one pool
whose liquidity their maker keeps, so that a withdrawal is simulated; on V4 a contract has it.
"""

import asyncio

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.liquidity_inquiry import find_liquidity
from assay.demo.animal import Animal
from assay.demo.compile import load_artifacts
from assay.demo.layout import VenueKey
from benchmarks._demo_world import demo_world
from benchmarks._machine import describe
from benchmarks.quotes import ROUNDS, context_of, measure, settled
from config.chains import Chain
from core.report.report import Report
from core.rpc.client import RpcClient
from tests.harness.chain.transactions import Chain as DemoChain

VENUES: tuple[VenueKey, ...] = ("v2", "v3", "v4")


async def run(chain: Chain, demo: DemoChain, client: RpcClient) -> None:
    """Print the table."""
    for venue in VENUES:
        token = demo.place(Animal(key=venue, trait="honest", symbol="KEPT", venue=venue))
        report = await settled(context_of(chain, client), token.address)

        async def find(context: ChainContext, report: Report = report) -> object:
            return await find_liquidity(context, report.token.address, report)

        await measure(f"liquidity of a {venue} pool", chain, client, find)


async def main() -> None:
    """Start the node, and print the table."""
    async with demo_world() as demo:
        print(describe(f"{ROUNDS} rounds"))
        known = DemoChain(demo.node, demo.world, load_artifacts())
        await run(demo.chain, known, demo.client)


if __name__ == "__main__":
    asyncio.run(main())
