"""Time of one whole analysis, and its round trips to the node.

Every token of the demo's world, and one with ten pools that are all traded, on a node of this
machine: as it is, and with a delay added to each round trip as of a remote node.
"""

import asyncio
import statistics
import time
from collections.abc import Sequence

import msgspec

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import scan
from analysis.reads.indexed_facts import NoFactsIndex
from analysis.reads.node import Node
from assay.demo.compile import load_artifacts
from assay.demo.layout import ZooToken
from benchmarks._demo_world import demo_world
from config.facts.chain import Chain
from config.settings import AnalysisSettings
from core.errors import TokenRefusedError
from core.evm.primitives import Address
from core.report.report import Report
from core.rpc.client import RpcClient
from sql.reports.report_bodies import encode_body
from tests.harness.chain.transactions import Chain as DemoChain
from tests.harness.measure.machine import describe
from tests.harness.node.counting import CountingNode
from tests.harness.venues.token_matrix import seed_nine_more

ROUNDS = 5
POOLS = 10
FAR_S = 0.05


class Taken:
    """Costs of the analyses of one setting."""

    def __init__(self) -> None:
        self.ms: list[float] = []
        self.trips: list[int] = []
        self.calls: list[int] = []
        self.cpu_ms: list[float] = []
        """Processor time of this process, all threads: the node's is not in it."""
        self.sent_kb: list[float] = []
        """Calls as JSON, before the transport packs them."""
        self.body_kb: list[float] = []
        """Size of the report as stored."""


async def measure(
    chain: Chain, tokens: Sequence[ZooToken], client: RpcClient, *, delay_s: float
) -> Taken:
    """Analyse every admitted token ROUNDS times, in turn, each in a new context."""
    taken = Taken()
    for _ in range(ROUNDS):
        for token in tokens:
            node = CountingNode(client, delay_s=delay_s)
            started, cpu_before = time.perf_counter(), time.process_time()
            report = await _judge(_context(chain, node), token.address)
            if report is not None:
                taken.ms.append(1000 * (time.perf_counter() - started))
                taken.cpu_ms.append(1000 * (time.process_time() - cpu_before))
                taken.trips.append(node.trips)
                taken.calls.append(node.calls)
                taken.sent_kb.append(len(msgspec.json.encode(node.requests)) / 1000)
                taken.body_kb.append(len(encode_body(report)) / 1000)
    return taken


async def _judge(context: ChainContext, token: Address) -> Report | None:
    """Return the last report. None: the token is refused."""
    found = None
    try:
        async for report in scan(context, token):
            found = report
    except TokenRefusedError:
        return None
    return found


def _context(chain: Chain, node: Node) -> ChainContext:
    return ChainContext(
        chain=chain,
        node=node,
        index=NoFactsIndex(),
        settings=AnalysisSettings(simulated_pools=POOLS),
        now_s=time.time,
    )


async def report(name: str, chain: Chain, tokens: Sequence[ZooToken], client: RpcClient) -> None:
    """One line a distance."""
    for distance, delay_s in (("node on this machine", 0.0), ("+50 ms a round trip", FAR_S)):
        taken = await measure(chain, tokens, client, delay_s=delay_s)
        tail = statistics.quantiles(taken.ms, n=20)[-1]
        print(
            f"{name:14} {distance:21} median {statistics.median(taken.ms):6.1f} ms  "
            f"p95 {tail:6.1f} ms  "
            f"round trips {statistics.median(taken.trips):g}, at most {max(taken.trips)}  "
            f"calls {statistics.median(taken.calls):g}, at most {max(taken.calls)}"
        )
        print(
            f"{'':36} an analysis: {statistics.mean(taken.cpu_ms):.0f} ms of processor time, "
            f"{statistics.mean(taken.calls):.0f} calls, {statistics.mean(taken.sent_kb):.0f} kB "
            f"sent, {statistics.mean(taken.body_kb):.1f} kB stored (means)"
        )


async def main() -> None:
    """Print the table."""
    async with demo_world() as demo:
        print(describe(f"{len(demo.world.tokens)} tokens of the demo's world, {ROUNDS} rounds"))
        await report("the world's", demo.chain, demo.world.tokens, demo.client)
        token = demo.world.token("honest")
        seed_nine_more(DemoChain(demo.node, demo.world, load_artifacts()), token)
        await report(f"with {POOLS} pools", demo.chain, (token,) * 10, demo.client)


if __name__ == "__main__":
    asyncio.run(main())
