"""How long the hook dossier of a token takes, and what it asks of the node.

On a node of this machine, as it is and with 50 ms added to each round trip: a token with one pool
with a hook, and one with three, in each of which three holders have positions.
"""

import asyncio

import msgspec

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.hook_inquiry import HookFindings, find_hooks
from analysis.simulation.simulate_v1 import NotSimulated
from assay.demo.compile import load_artifacts
from benchmarks._demo_world import demo_world
from benchmarks._machine import describe
from benchmarks.quotes import ROUNDS, context_of, measure
from config.chains import Chain
from core.evm.primitives import Address
from core.rpc.client import RpcClient
from tests.harness.chain.transactions import Chain as DemoChain
from tests.harness.liquidity.v4_positions import seed_hooked

_HOLDERS = 3


async def run(chain: Chain, world: DemoChain, client: RpcClient) -> None:
    """Print the table."""
    await _dossier("dossier, 1 pool", chain, client, world.world.token("v4_hook").address)
    token = world.world.token("honest")
    manager = seed_hooked(world, token, holders=_HOLDERS)
    dexes = (
        msgspec.structs.replace(dex, position_manager=manager) if dex.kind == "AmmV4" else dex
        for dex in chain.dexes
    )
    known = msgspec.structs.replace(chain, dexes=tuple(dexes))
    await _dossier("dossier, 3 pools", known, client, token.address)


async def _dossier(name: str, chain: Chain, client: RpcClient, token: Address) -> None:
    found = await find_hooks(context_of(chain, client), token)
    print(f"{name}: {_simulated(found)}")

    async def find(context: ChainContext) -> object:
        return await find_hooks(context, token)

    await measure(name, chain, client, find)


def _simulated(found: HookFindings) -> str:
    """Return how much of the dossier was simulated."""
    trades = [trade for pool in found.pools for trade in pool.measured.trades]
    ran = sum(not isinstance(trade.outcome, NotSimulated) for trade in trades)
    tried = [one for pool in found.pools for one in pool.leaving.tried]
    withdrawn = sum(not isinstance(one.withdrawn.outcome, NotSimulated) for one in tried)
    return (
        f"{len(found.pools)} pools, {ran} of {len(trades)} trades, "
        f"{withdrawn} of {len(tried)} withdrawals simulated"
    )


async def main() -> None:
    """Start the node, and print the table."""
    async with demo_world() as demo:
        print(describe(f"{ROUNDS} rounds"))
        await run(demo.chain, DemoChain(demo.node, demo.world, load_artifacts()), demo.client)


if __name__ == "__main__":
    asyncio.run(main())
