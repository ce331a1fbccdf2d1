"""Drill: no randomly composed trap gets `safe`, and no honest double `danger`.

Composed from the parts in tests/redteam. Each token is compiled, deployed on a node of this machine
with a pool, analysed, and then traded and robbed by real transactions. Ends with 1 where a trap is
called safe or an honest double dangerous.
"""

import argparse
import asyncio
import secrets
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.indexed_facts import NoFactsIndex
from assay.demo.anvil import AnvilNode
from assay.demo.compile import load_artifacts
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.demo.world import build_market
from config.facts.chain import Chain
from config.facts.load_chains import load_chains
from config.settings import AnalysisSettings, RpcSettings
from core.rpc.client import RpcClient
from tests.harness.measure.machine import describe
from tests.harness.redteam.fixed_traps import VARIANTS
from tests.harness.redteam.generator import compose
from tests.harness.redteam.ordinary_people import People
from tests.harness.redteam.outcome_check import Finding, judge_all, render
from tests.harness.redteam.placed_traps import compile_traps, place_traps
from tests.harness.redteam.trap_model import Trap

BATCH = 40
"""Traps on one chain."""
STATES_KEPT = 256


async def judge_batch(
    node: AnvilNode, world: World, chain: Chain, traps: Sequence[Trap]
) -> list[Finding]:
    """Compile, deploy, analyse and trade a batch, then revert the chain."""
    artifacts = load_artifacts() | await asyncio.to_thread(compile_traps, traps)
    snapshot = node.snapshot()
    client = await RpcClient.connect((node.url,), chain.id, RpcSettings())
    try:
        placed = place_traps(node, world, artifacts, traps)
        people = People(node)
        people.bustle()
        head_s = node.head_time()
        context = ChainContext(
            chain=chain,
            node=client,
            index=NoFactsIndex(),
            settings=AnalysisSettings(liquidity_holders="never"),
            now_s=lambda: head_s,
        )
        return await judge_all(context, people, world, placed)
    finally:
        await client.aclose()
        node.revert(snapshot)


async def run(traps: Sequence[Trap]) -> list[Finding]:
    """Return the findings of all traps, batch by batch."""
    findings: list[Finding] = []
    with AnvilNode(states_kept=STATES_KEPT) as node, tempfile.TemporaryDirectory() as folder:
        world = build_market(node)
        overlay = write_overlay(world, Path(folder))
        chain = next(chain for chain in load_chains(overlay) if chain.id == node.chain_id)
        started = time.perf_counter()
        for at in range(0, len(traps), BATCH):
            findings += await judge_batch(node, world, chain, traps[at : at + BATCH])
            seconds = time.perf_counter() - started
            false_safe = sum("false_safe" in one.wrong for one in findings)
            print(
                f"{len(findings)} of {len(traps)} after {seconds:.0f} s, "
                f"{false_safe} traps called safe",
                file=sys.stderr,
                flush=True,
            )
    return findings


def main() -> None:
    """Run traps, and print verdicts by outcome."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compositions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    parser.add_argument("--fixed", action="store_true", help="the fixed variants instead")
    parser.add_argument("--only", default="", help="a word of the labels")
    parser.add_argument("--out", type=Path, help="all findings as JSON")
    parser.add_argument("--sources", type=Path, help="folder for the Solidity of what is wrong")
    options = parser.parse_args()
    what = f"{options.compositions} compositions, seed {options.seed}"
    print(describe("the fixed variants" if options.fixed else what), flush=True)
    traps = VARIANTS if options.fixed else compose(options.seed, options.compositions)
    traps = [trap for trap in traps if options.only in trap.label]
    findings = asyncio.run(run(traps))
    print(render(findings))
    if options.sources:
        _keep(traps, findings, options.sources)
    if options.fixed:
        wrong = [one.label.partition(":")[0] for one in findings if one.wrong]
        print("for tests/redteam/not_yet.py:", *wrong)
    if options.out:
        options.out.write_bytes(msgspec.json.format(msgspec.json.encode(findings)))
    sys.exit(any({"false_safe", "honest_danger"} & {*one.wrong} for one in findings))


def _keep(traps: Sequence[Trap], findings: Sequence[Finding], folder: Path) -> None:
    wrong = {one.label for one in findings if one.wrong}
    folder.mkdir(parents=True, exist_ok=True)
    for trap in traps:
        if trap.label in wrong:
            (folder / f"{trap.name}.sol").write_text(f"// {trap.label}\n{trap.source}")


if __name__ == "__main__":
    main()
