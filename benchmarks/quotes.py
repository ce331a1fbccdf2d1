"""Times and node requests of the answers that are computed on demand.

On a node of this machine, as it is and with 50 ms added to each round trip. Parts (`--only`):

    quotes     exit quotes of a token with one pool and with ten; checks of given and built trades
    hooks      hook dossier of a token with one pool with a hook, and with three of three holders
    liquidity  liquidity holders of a V2, a V3 and a V4 pool whose liquidity their maker keeps
    packs      size of evidence packs, recorded and replayed, of a V2 and a V4 token
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

import msgspec

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import scan
from analysis.quotes.census.sellers import MOST_SELLERS
from analysis.quotes.exit_quote import RequestedSize, quote_exit
from analysis.quotes.hook_inquiry import HookFindings, find_hooks
from analysis.quotes.liquidity_inquiry import find_liquidity
from analysis.quotes.sale_census import take_census
from analysis.quotes.trade_check import check_trade
from analysis.quotes.unsigned_trade import UnsignedTrade
from analysis.reads.indexed_facts import NoFactsIndex
from analysis.reads.node import Node
from analysis.replay.evidence_pack import EvidencePack, compress_pack, encode_pack
from analysis.replay.record_pack import record_pack
from analysis.replay.replay_pack import replay_pack
from analysis.simulation.simulate_v1 import NotSimulated
from assay.demo.compile import load_artifacts
from assay.demo.layout import VenueKey, ZooToken
from assay.demo.trader import sell_call
from assay.demo.zoo_token import Animal
from benchmarks._demo_world import DemoWorld, demo_world
from config.facts.chain import Chain
from config.settings import AnalysisSettings
from core.evm.primitives import Address, HexBytes, RawAmount
from core.report.report import Report
from core.rpc.client import RpcClient
from tests.harness.chain.transactions import Chain as DemoChain
from tests.harness.liquidity.v4_positions import seed_hooked
from tests.harness.measure.machine import describe
from tests.harness.node.counting import CountingNode
from tests.harness.venues.token_matrix import seed_nine_more

ROUNDS = 40
FAR_S = 0.05
AMOUNT = 10**18
HOOKED_HOLDERS = 3
VENUES: tuple[VenueKey, ...] = ("v2", "v3", "v4")

Work = Callable[[ChainContext], Awaitable[object]]


def make_context(chain: Chain, node: Node) -> ChainContext:
    """Build a context that follows no chain and so requests the head each time."""
    return ChainContext(
        chain=chain,
        node=node,
        index=NoFactsIndex(),
        settings=AnalysisSettings(),
        now_s=time.time,
    )


async def scan_token(context: ChainContext, token: Address) -> Report:
    """Return the settled report."""
    *_, report = [report async for report in scan(context, token)]
    return report


async def measure(name: str, chain: Chain, client: RpcClient, work: Work) -> None:
    """Print a line for each distance, with a warm context as in a service."""
    for distance, delay_s in (("node on this machine", 0.0), ("+50 ms a round trip", FAR_S)):
        node = CountingNode(client, delay_s=delay_s)
        context = make_context(chain, node)
        await work(context)
        taken_ms: list[float] = []
        trips, calls = node.trips, node.calls
        for _ in range(ROUNDS):
            started = time.perf_counter()
            await work(context)
            taken_ms.append(1000 * (time.perf_counter() - started))
        tail = statistics.quantiles(taken_ms, n=20)[-1]
        print(
            f"{name:30} {distance:21} median {statistics.median(taken_ms):6.1f} ms  "
            f"p95 {tail:6.1f} ms  round trips {(node.trips - trips) / ROUNDS:g}  "
            f"calls {(node.calls - calls) / ROUNDS:g}"
        )


async def measure_quotes(demo: DemoWorld) -> None:
    """Print times of exit quotes and of trade checks."""
    chain, client = demo.chain, demo.client
    token = demo.world.token("honest")
    await _measure_exit("exit quote, 1 pool", chain, client, token)
    seed_nine_more(_verbs_of(demo), token)
    await _measure_exit("exit quote, 10 pools", chain, client, token)
    report = await scan_token(make_context(chain, client), token.address)
    sender = token.holders[0]
    built = UnsignedTrade(
        token=token.address,
        side="sell",
        amount_raw=RawAmount(AMOUNT),
        sender=sender,
        router=token.pool.dex,
    )
    call = sell_call(demo.world.venues, token, trader=sender, token_raw=AMOUNT)
    given = msgspec.structs.replace(built, router=call.to, data=HexBytes(call.data))
    for name, trade in (("trade check, call given", given), ("trade check, call made", built)):

        async def check(context: ChainContext, trade: UnsignedTrade = trade) -> object:
            return await check_trade(context, trade, report)

        await measure(name, chain, client, check)


async def _measure_exit(name: str, chain: Chain, client: RpcClient, token: ZooToken) -> None:
    report = await scan_token(make_context(chain, client), token.address)

    async def quote(context: ChainContext) -> object:
        return await quote_exit(context, token.address, report, RequestedSize(usd=2_500.0))

    await measure(name, chain, client, quote)


async def measure_hooks(demo: DemoWorld) -> None:
    """Print times of hook dossiers."""
    hooked = demo.world.token("v4_hook").address
    await _measure_dossier("dossier, 1 pool", demo.chain, demo.client, hooked)
    token = demo.world.token("honest")
    manager = seed_hooked(_verbs_of(demo), token, holders=HOOKED_HOLDERS)
    dexes = (
        msgspec.structs.replace(dex, position_manager=manager) if dex.kind == "AmmV4" else dex
        for dex in demo.chain.dexes
    )
    known = msgspec.structs.replace(demo.chain, dexes=tuple(dexes))
    await _measure_dossier("dossier, 3 pools", known, demo.client, token.address)


async def _measure_dossier(name: str, chain: Chain, client: RpcClient, token: Address) -> None:
    found = await find_hooks(make_context(chain, client), token)
    print(f"{name}: {_describe_simulated(found)}")

    async def find(context: ChainContext) -> object:
        return await find_hooks(context, token)

    await measure(name, chain, client, find)


def _describe_simulated(found: HookFindings) -> str:
    """Format the simulated part of a dossier."""
    trades = [trade for pool in found.pools for trade in pool.measured.trades]
    ran = sum(not isinstance(trade.outcome, NotSimulated) for trade in trades)
    tried = [one for pool in found.pools for one in pool.leaving.tried]
    withdrawn = sum(not isinstance(one.withdrawn.outcome, NotSimulated) for one in tried)
    return (
        f"{len(found.pools)} pools, {ran} of {len(trades)} trades, "
        f"{withdrawn} of {len(tried)} withdrawals simulated"
    )


async def measure_liquidity(demo: DemoWorld) -> None:
    """Print times of finding the liquidity holders, a simulated withdrawal included."""
    chain, client = demo.chain, demo.client
    verbs = _verbs_of(demo)
    for venue in VENUES:
        token = verbs.place(Animal(key=venue, trait="honest", symbol="KEPT", venue=venue))
        report = await scan_token(make_context(chain, client), token.address)

        async def find(context: ChainContext, report: Report = report) -> object:
            return await find_liquidity(context, report.token.address, report)

        await measure(f"liquidity of a {venue} pool", chain, client, find)


async def measure_census(demo: DemoWorld) -> None:
    """Print times of censuses of fifty holders, none or five of them on a list."""
    chain, client = demo.chain, demo.client
    verbs = _verbs_of(demo)
    animal = Animal(key="listed", trait="", symbol="LIST", contract="BlacklistToken", extra="pair")
    token = verbs.place(animal)
    accounts = [verbs.fresh_account() for _ in range(MOST_SELLERS)]
    for account in accounts:
        verbs.buy(token, account)
        verbs.send(token.owner, token.address, "setBot(address,bool)", account, False)
    for listed in (0, 5):
        for account in accounts[:listed]:
            verbs.send(token.owner, token.address, "setBot(address,bool)", account, True)
        report = await scan_token(make_context(chain, client), token.address)

        async def take(context: ChainContext, report: Report = report) -> object:
            return await take_census(context, report.token.address, report)

        await measure(f"census, {listed} of 50 on a list", chain, client, take)


async def measure_packs(demo: DemoWorld) -> None:
    """Print sizes of evidence packs, and times of recording and replaying them."""
    for key in ("honest", "v4_honest"):
        token = demo.world.token(key).address
        pack = await record_pack(make_context(demo.chain, demo.client), token)
        size = len(compress_pack(encode_pack(pack)))
        print(f"{key}: {len(pack.calls)} calls, {size / 1000:.1f} KB packed")
        await _measure_pack(key, demo, token, pack)


async def _measure_pack(key: str, demo: DemoWorld, token: Address, pack: EvidencePack) -> None:
    async def record(context: ChainContext) -> object:
        return await record_pack(context, token)

    async def replay(context: ChainContext) -> object:
        found = await replay_pack(pack, context.node, context)
        if found.verdict != "equal":
            raise AssertionError(found.reason or found.differences)
        return found

    await measure(f"{key}, recorded", demo.chain, demo.client, record)
    await measure(f"{key}, replayed", demo.chain, demo.client, replay)


def _verbs_of(demo: DemoWorld) -> DemoChain:
    return DemoChain(demo.node, demo.world, load_artifacts())


PARTS = {
    "quotes": measure_quotes,
    "hooks": measure_hooks,
    "liquidity": measure_liquidity,
    "census": measure_census,
    "packs": measure_packs,
}


async def run(parts: list[str]) -> None:
    """Print the table of each part, each on a new node."""
    for part in parts:
        async with demo_world() as demo:
            print(describe(f"{part}, {ROUNDS} rounds"))
            await PARTS[part](demo)


def main() -> None:
    """Measure the parts of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=PARTS, help="one part")
    only = parser.parse_args().only
    asyncio.run(run([only] if only else list(PARTS)))


if __name__ == "__main__":
    main()
