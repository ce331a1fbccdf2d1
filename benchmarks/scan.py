"""How long one whole analysis takes, and how often it has to wait for the node.

Every token of the demo's world, on a node of this machine: once as it is, and once with a delay
added to each round trip, as a node elsewhere would have.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from analysis.desk import Desk
from analysis.knowledge import NoKnowledge
from analysis.node import Node, RpcAnswer
from analysis.scan import scan
from benchmarks._machine import describe
from config.chains import Chain
from config.errors import TokenRefusedError
from config.jsonrpc import RpcRequest
from config.load import load_chains
from config.primitives import Address, BlockRef
from config.settings import AnalysisSettings, RpcSettings
from demo.anvil import AnvilNode
from demo.layout import World
from demo.overlay import write_overlay
from demo.world import build_world
from indexer.rpc import RpcClient

ROUNDS = 5
FAR_S = 0.05


class CountedNode:
    """A node with every round trip counted, and made longer."""

    def __init__(self, node: RpcClient, *, delay_s: float) -> None:
        self._node = node
        self._delay_s = delay_s
        self.trips = 0
        self.calls = 0

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        """As the node, later."""
        self.trips += 1
        self.calls += len(requests)
        await asyncio.sleep(self._delay_s)
        return await self._node.batch(requests)

    async def fetch_head(self) -> BlockRef:
        """As the node, later."""
        self.trips += 1
        self.calls += 1
        await asyncio.sleep(self._delay_s)
        return await self._node.fetch_head()


class Taken:
    """What the analyses of one setting took."""

    def __init__(self) -> None:
        self.ms: list[float] = []
        self.trips: list[int] = []
        self.calls: list[int] = []


async def measure(chain: Chain, world: World, client: RpcClient, *, delay_s: float) -> Taken:
    """Judge every token that passes the gate, ROUNDS times, one after the other."""
    taken = Taken()
    for _ in range(ROUNDS):
        for token in world.tokens:
            node = CountedNode(client, delay_s=delay_s)
            started = time.perf_counter()
            if await _is_judged(_desk(chain, node), token.address):
                taken.ms.append(1000 * (time.perf_counter() - started))
                taken.trips.append(node.trips)
                taken.calls.append(node.calls)
    return taken


async def _is_judged(desk: Desk, token: Address) -> bool:
    try:
        async for _ in scan(desk, token):
            pass
    except TokenRefusedError:
        return False
    return True


def _desk(chain: Chain, node: Node) -> Desk:
    return Desk(
        chain=chain,
        node=node,
        knowledge=NoKnowledge(),
        settings=AnalysisSettings(),
        now_s=time.time,
    )


async def main() -> None:
    """Print the table."""
    with AnvilNode() as node, tempfile.TemporaryDirectory() as folder:
        world = build_world(node)
        overlay = write_overlay(world, Path(folder))
        chain = next(chain for chain in load_chains(overlay) if chain.id == node.chain_id)
        client = await RpcClient.connect((node.url,), chain.id, RpcSettings())
        print(describe(f"{len(world.tokens)} tokens of the demo's world, {ROUNDS} rounds"))
        for name, delay_s in (("node on this machine", 0.0), ("+50 ms a round trip", FAR_S)):
            taken = await measure(chain, world, client, delay_s=delay_s)
            tail = statistics.quantiles(taken.ms, n=20)[-1]
            print(
                f"{name:22} median {statistics.median(taken.ms):6.1f} ms  p95 {tail:6.1f} ms  "
                f"round trips at most {max(taken.trips)}  calls at most {max(taken.calls)}"
            )
        await client.aclose()


if __name__ == "__main__":
    asyncio.run(main())
