"""How large evidence packs are, and how long it takes to record and to replay one.

On a node of this machine, as it is and with 50 ms added to each round trip: a token with a pool of
Uniswap V2, and one with a pool of V4.
"""

import asyncio

from analysis.pipeline.chain_context import ChainContext
from analysis.replay.evidence_pack import EvidencePack, compress_pack, encode_pack
from analysis.replay.record_pack import record_pack
from analysis.replay.replay_pack import replay_pack
from assay.demo.layout import World
from benchmarks._demo_world import demo_world
from benchmarks._machine import describe
from benchmarks.quotes import ROUNDS, context_of, measure
from config.chains import Chain
from core.evm.primitives import Address
from core.rpc.client import RpcClient


async def run(chain: Chain, world: World, client: RpcClient) -> None:
    """Print the table."""
    for key in ("honest", "v4_honest"):
        token = world.token(key).address
        pack = await record_pack(context_of(chain, client), token)
        size = len(compress_pack(encode_pack(pack)))
        print(f"{key}: {len(pack.calls)} calls, {size / 1000:.1f} KB packed")
        await _work(key, chain, client, token, pack)


async def _work(
    key: str, chain: Chain, client: RpcClient, token: Address, pack: EvidencePack
) -> None:
    async def record(context: ChainContext) -> object:
        return await record_pack(context, token)

    async def replay(context: ChainContext) -> object:
        found = await replay_pack(pack, context.node, context)
        if found.verdict != "equal":
            raise AssertionError(found.reason or found.differences)
        return found

    await measure(f"{key}, recorded", chain, client, record)
    await measure(f"{key}, replayed", chain, client, replay)


async def main() -> None:
    """Start the node, and print the table."""
    async with demo_world() as demo:
        print(describe(f"{ROUNDS} rounds"))
        await run(demo.chain, demo.world, demo.client)


if __name__ == "__main__":
    asyncio.run(main())
