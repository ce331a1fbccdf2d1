"""Waiting times of people: commands at a terminal, and the page of a token in a browser.

Each command is a separate process, start and end included, with modules compiled before the first
one that counts. The page is of a real report in a fresh browser context for each visit, so nothing
is cached; first contentful paint has a target of 300 ms. The token is the demo's trap, which only
its owner can sell, on a node of this machine.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import scan
from analysis.reads.indexed_facts import NoFactsIndex
from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World as DemoWorld
from assay.demo.world import build_world
from config.facts.load_chains import load_chains
from config.settings import AnalysisSettings, PublicSettings, RpcSettings
from core.report.report import Report
from core.rpc.client import RpcClient
from sql.accounts.ledger import Ledger
from tests.harness.api.open_port import listening
from tests.harness.api.world import World
from tests.harness.browser.chromium import Chromium, Visit, find_chromium
from tests.harness.measure.machine import ROOT, describe
from tests.harness.measure.process_cost import run_timed

RUNS = 15
VISITS = 20
TOKEN = "sell_blocked"  # noqa: S105 - a key of the zoo
_LONGEST_S = 60.0
_OPEN = PublicSettings(pages_per_minute=10_000)


def measure_commands(node: AnvilNode, world: DemoWorld, overlay: Path) -> None:
    """Print times of commands."""
    with tempfile.TemporaryDirectory() as bytecode:
        env = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
        env |= {
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": bytecode,
            f"ASSAY_RPC_{node.chain_id}": node.url,
            "ASSAY_CONFIG": str(overlay),
        }
        completion = {"_ASSAY_COMPLETE": "bash_complete", "COMP_WORDS": "assay scan a"}
        words = ("scan", "eth", world.token(TOKEN).address)
        print(describe(f"{RUNS} runs of each command"))
        _measure_command("assay --help", "--help", env=env)
        _measure_command("completion of a chain", env={**env, **completion, "COMP_CWORD": "2"})
        _measure_command("assay scan, JSON", *words, env=env)
        _measure_command("assay scan, card", *words, "--output", "card", env=env)


def _measure_command(name: str, *arguments: str, env: Mapping[str, str]) -> None:
    """Print the medians of one command."""
    costs = [
        run_timed(
            (sys.executable, "-m", "assay", *arguments), env=env, folder=ROOT, longest_s=_LONGEST_S
        )
        for _ in range(RUNS + 1)
    ][1:]
    wall_s = statistics.median(cost.wall_s for cost in costs)
    cpu_s = statistics.median(cost.cpu_s for cost in costs)
    print(f"{name:22} median {1000 * wall_s:5.0f} ms, {1000 * cpu_s:4.0f} ms of a processor")


async def measure_page(node: AnvilNode, world: DemoWorld, overlay: Path) -> None:
    """Print times of the page, where there is a Chromium."""
    executable = find_chromium()
    if executable is None:
        print("no Chromium on this machine (apt-get install chromium)")
        return
    print(describe(f"page of the demo's trap, {VISITS} visits"))
    report = await _scan_trap(node, world, overlay)
    with tempfile.TemporaryDirectory() as folder, closing(Chromium(executable)) as chromium:
        paints_ms = await _visit_page(report, Path(folder), chromium)
    print(
        f"first contentful paint: median {statistics.median(paints_ms):.0f} ms, "
        f"worst {max(paints_ms):.0f} ms"
    )


async def _scan_trap(node: AnvilNode, world: DemoWorld, overlay: Path) -> Report:
    """Return the settled report of the token."""
    chain = next(one for one in load_chains(overlay) if one.id == node.chain_id)
    client = await RpcClient.connect((node.url,), node.chain_id, RpcSettings())
    context = ChainContext(
        chain=chain,
        node=client,
        index=NoFactsIndex(),
        settings=AnalysisSettings(),
        now_s=time.time,
    )
    *_, report = [one async for one in scan(context, world.token(TOKEN).address)]
    await client.aclose()
    return report


async def _visit_page(report: Report, folder: Path, chromium: Chromium) -> list[float]:
    """Return the first contentful paint of each visit, in ms."""
    with closing(Ledger.open(folder / "ledger.sqlite")) as ledger:
        api = World(ledger)
        api.analysis.outcome = report
        app = api.make_app(public=_OPEN, now_s=time.time, monotonic_s=time.monotonic)
        async with listening(app) as port:
            visit = Visit(url=f"http://127.0.0.1:{port}/t/ethereum/{report.token.address}")
            seen = [await asyncio.to_thread(chromium.visit, visit) for _ in range(VISITS + 1)]
        await app.aclose()
    return [each.paint_ms for each in seen[1:] if each.paint_ms is not None]


def main() -> None:
    """Print both tables."""
    with AnvilNode() as node, tempfile.TemporaryDirectory() as folder:
        world = build_world(node)
        overlay = write_overlay(world, Path(folder))
        measure_commands(node, world, overlay)
        asyncio.run(measure_page(node, world, overlay))


if __name__ == "__main__":
    main()
