"""How soon something is seen of a token's page: first contentful paint in Chromium, on loopback.

The page is of a real report, of the demo's token that only its owner can sell, in a fresh browser
context for each visit, so nothing is cached there. Target: 300 ms.
"""

import asyncio
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import scan
from analysis.reads.indexed_facts import NoFactsIndex
from assay.demo.anvil import AnvilNode
from assay.demo.overlay import write_overlay
from assay.demo.world import build_world
from benchmarks._machine import describe
from config.load import load_chains
from config.settings_model import AnalysisSettings, PublicSettings, RpcSettings
from core.report.report import Report
from core.rpc.client import RpcClient
from sql.accounts.ledger import Ledger
from tests.harness.api.world import World
from tests.harness.browser.chromium import Chromium, Visit, find_chromium
from tests.harness.browser.listening import listening

VISITS = 20
_OPEN = PublicSettings(pages_per_minute=10_000)


async def judge(folder: Path) -> Report:
    """The settled report of the token."""
    with AnvilNode() as node:
        world = build_world(node)
        chains = load_chains(write_overlay(world, folder))
        chain = next(one for one in chains if one.id == node.chain_id)
        client = await RpcClient.connect((node.url,), node.chain_id, RpcSettings())
        context = ChainContext(
            chain=chain,
            node=client,
            index=NoFactsIndex(),
            settings=AnalysisSettings(),
            now_s=time.time,
        )
        token = world.token("sell_blocked").address
        *_, report = [one async for one in scan(context, token)]
        await client.aclose()
    return report


async def measure(report: Report, folder: Path, chromium: Chromium) -> list[float]:
    """First contentful paint of each visit, in ms."""
    with closing(Ledger.open(folder / "ledger.sqlite")) as ledger:
        world = World(ledger)
        world.analysis.outcome = report
        app = world.make_app(public=_OPEN, now_s=time.time, monotonic_s=time.monotonic)
        async with listening(app) as port:
            visit = Visit(url=f"http://127.0.0.1:{port}/t/ethereum/{report.token.address}")
            seen = [await asyncio.to_thread(chromium.visit, visit) for _ in range(VISITS + 1)]
        await app.aclose()
    return [each.paint_ms for each in seen[1:] if each.paint_ms is not None]


async def main() -> None:
    executable = find_chromium()
    if executable is None:
        print("no Chromium on this machine (apt-get install chromium)")
        return
    print(describe(f"the demo's TRAP, {VISITS} visits"))
    with tempfile.TemporaryDirectory() as name, closing(Chromium(executable)) as chromium:
        paints = await measure(await judge(Path(name)), Path(name), chromium)
    worst = max(paints)
    print(
        f"first contentful paint: median {statistics.median(paints):.0f} ms, worst {worst:.0f} ms"
    )


if __name__ == "__main__":
    asyncio.run(main())
