"""How long an exit quote and a check of a trade take, and what they ask of the node.

On a node of this machine, as it is and with 50 ms added to each round trip: a token with one pool
and with ten, and checks of calls that are given and that are made here.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import scan
from analysis.quotes.exit_quote import ExitAsk, quote_exit
from analysis.quotes.trade_check import check_trade
from analysis.quotes.unsigned_trade import UnsignedTrade
from analysis.reads.indexed_facts import NoFactsIndex
from analysis.reads.node import Node
from assay.demo.compile import load_artifacts
from assay.demo.layout import ZooToken
from assay.demo.swaps import sell_call
from benchmarks._demo_world import demo_world
from benchmarks._machine import describe
from config.chains import Chain
from config.settings_model import AnalysisSettings
from core.evm.primitives import Address, HexBytes, RawAmount
from core.report.report import Report
from core.rpc.client import RpcClient
from tests.harness.chain.transactions import Chain as DemoChain
from tests.harness.node.counting_node import CountingNode
from tests.harness.venues.many_pools import seed_nine_more

ROUNDS = 40
FAR_S = 0.05
AMOUNT = 10**18

Work = Callable[[ChainContext], Awaitable[object]]


def context_of(chain: Chain, node: Node) -> ChainContext:
    """A context that follows no chain, so asks for the head each time."""
    return ChainContext(
        chain=chain,
        node=node,
        index=NoFactsIndex(),
        settings=AnalysisSettings(),
        now_s=time.time,
    )


async def settled(context: ChainContext, token: Address) -> Report:
    """The settled report."""
    *_, report = [report async for report in scan(context, token)]
    return report


async def measure(name: str, chain: Chain, client: RpcClient, work: Work) -> None:
    """Print a line a distance; the context is warm, as a service's is."""
    for distance, delay_s in (("node on this machine", 0.0), ("+50 ms a round trip", FAR_S)):
        node = CountingNode(client, delay_s=delay_s)
        context = context_of(chain, node)
        await work(context)
        taken: list[float] = []
        trips, calls = node.trips, node.calls
        for _ in range(ROUNDS):
            started = time.perf_counter()
            await work(context)
            taken.append(1000 * (time.perf_counter() - started))
        tail = statistics.quantiles(taken, n=20)[-1]
        print(
            f"{name:30} {distance:21} median {statistics.median(taken):6.1f} ms  "
            f"p95 {tail:6.1f} ms  round trips {(node.trips - trips) / ROUNDS:g}  "
            f"calls {(node.calls - calls) / ROUNDS:g}"
        )


async def run(chain: Chain, world: DemoChain, client: RpcClient) -> None:
    """Print the table."""
    token = world.world.token("honest")
    await _quotes("exit quote, 1 pool", chain, client, token)
    seed_nine_more(world, token)
    await _quotes("exit quote, 10 pools", chain, client, token)
    report = await settled(context_of(chain, client), token.address)
    sender = token.holders[0]
    made = UnsignedTrade(
        token=token.address,
        side="sell",
        amount_raw=RawAmount(AMOUNT),
        sender=sender,
        router=token.pool.dex,
    )
    call = sell_call(world.world.venues, token, trader=sender, token_raw=AMOUNT)
    given = UnsignedTrade(
        token=token.address,
        side="sell",
        amount_raw=RawAmount(AMOUNT),
        sender=sender,
        router=call.to,
        data=HexBytes(call.data),
    )
    for name, ask in (("trade check, call given", given), ("trade check, call made", made)):

        async def check(context: ChainContext, ask: UnsignedTrade = ask) -> object:
            return await check_trade(context, ask, report)

        await measure(name, chain, client, check)


async def _quotes(name: str, chain: Chain, client: RpcClient, token: ZooToken) -> None:
    report = await settled(context_of(chain, client), token.address)

    async def quote(context: ChainContext) -> object:
        return await quote_exit(context, token.address, report, ExitAsk(usd=2_500.0))

    await measure(name, chain, client, quote)


async def main() -> None:
    """Start the node, and print the table."""
    async with demo_world() as demo:
        print(describe(f"{ROUNDS} rounds"))
        await run(demo.chain, DemoChain(demo.node, demo.world, load_artifacts()), demo.client)


if __name__ == "__main__":
    asyncio.run(main())
