"""Launches on one separate chain: traded, indexed by the follower, analysed by the command."""

import asyncio
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from assay.demo.anvil import AnvilNode
from assay.demo.compile import load_artifacts
from assay.demo.embedded_chain import write_overlay
from assay.demo.world import build_market
from config.facts.chain import Chain
from config.facts.load_chains import load_chains
from config.settings import IndexerSettings, RpcSettings
from core.rpc.client import RpcClient
from indexer.head.follow import follow
from indexer.head.follower_status import FollowStatus
from sql.chain.quote_tokens import write_quote_tokens
from sql.engine.store import Store
from tests.harness.redteam.launches.launch_kinds import OUTSIDE_CODE
from tests.harness.redteam.launches.launch_life import LaunchLife
from tests.harness.redteam.launches.launch_truth import SPANS_S, LaunchTruth
from tests.harness.redteam.ordinary_people import People
from tests.harness.redteam.placed_traps import compile_traps, place_traps
from tests.harness.redteam.trap_model import Trap

STATES_KEPT: Final = 900
"""Number above the blocks of a batch, so that each token can be analysed before its first trade."""
_FOLLOW_S: Final = 300.0
_EXIT_WRONG: Final = (0, 1)


class LaunchResult(msgspec.Struct, frozen=True, kw_only=True):
    """One launch: outcome, answers, and the score of the command."""

    truth: LaunchTruth
    trapped: dict[str, bool]
    """True by span, as receipts and balances show."""
    verdict: str
    reason: str
    scored: dict[str, str]
    """The command's outcome, by span."""

    @property
    def is_in_code(self) -> bool:
        """True if the code of token or hook contains the cause."""
        return self.truth.axis not in OUTSIDE_CODE

    @property
    def is_false_safe(self) -> bool:
        """Called safe, and it trapped a buyer within the hour."""
        return self.verdict == "safe" and self.trapped["hour"]


def tell_nobody(_: str) -> None:
    """Ignore a line of progress."""


def run_batch(
    traps: Sequence[Trap],
    folder: Path,
    *,
    liquidity_modes: Sequence[str] = ("young",),
    tell: Callable[[str], None] = tell_nobody,
) -> list[list[LaunchResult]]:
    """Trade, index and analyse some launches on a separate chain in memory.

    `liquidity_modes`: values of `analysis.liquidity_holders`, each of which gives one list of
    results, in order. `tell` receives the times of the steps.
    """
    with AnvilNode(states_kept=STATES_KEPT) as node:
        marks = [time.perf_counter()]
        world = build_market(node)
        overlays = [
            write_overlay(world, folder / one, more=f'[analysis]\nliquidity_holders = "{one}"\n')
            for one in liquidity_modes
        ]
        artifacts = load_artifacts() | compile_traps(traps)
        placed = place_traps(node, world, artifacts, traps)
        people = People(node)
        people.bustle()
        marks.append(time.perf_counter())
        first = node.head_number() + 1
        truths = LaunchLife(people, world, placed).run()
        last = node.head_number()
        marks.append(time.perf_counter())
        chain = next(chain for chain in load_chains(overlays[0]) if chain.id == node.chain_id)
        asyncio.run(_index(chain, node, folder / "store"))
        marks.append(time.perf_counter())
        env = {"ASSAY_STORE": str(folder / "store"), f"ASSAY_RPC_{chain.id}": node.url}
        said = [
            _backtest(chain, env | {"ASSAY_CONFIG": str(overlay)}, first=first, last=last)
            for overlay in overlays
        ]
        marks.append(time.perf_counter())
    steps = ("placed", "lived", "indexed", "judged")
    spent = [now - then for then, now in itertools.pairwise(marks)]
    timings = ", ".join(f"{name} {took:.0f} s" for name, took in zip(steps, spent, strict=True))
    tell(f"{len(traps)} launches, {last} blocks: {timings}")
    return [[_result(truth, each) for truth in truths] for each in said]


async def _index(chain: Chain, node: AnvilNode, path: Path) -> None:
    """Follow the chain from its first block to its head."""
    store = Store.open(path)
    client = await RpcClient.connect((node.url,), chain.id, RpcSettings())
    stop = asyncio.Event()
    head = node.head_number()

    def publish(status: FollowStatus) -> None:
        if status.tip and status.tip.number >= head:
            stop.set()

    try:
        write_quote_tokens(store, [chain])
        settings = IndexerSettings(poll_s=0.02)
        async with asyncio.timeout(_FOLLOW_S):
            await follow(chain, client, store, settings, stop=stop, publish=publish)
    finally:
        await client.aclose()
        store.close()


def _backtest(chain: Chain, env: dict[str, str], *, first: int, last: int) -> dict[str, Any]:
    """The command's lines, by token."""
    command = ["backtest", chain.slug, "--from", str(first), "--to", str(last)]
    ended = subprocess.run(
        [sys.executable, "-m", "assay", *command, "--receipts", "week", "--output", "json"],
        env=os.environ | env,
        stdout=subprocess.PIPE,
        check=False,
    )
    if ended.returncode not in _EXIT_WRONG:
        raise subprocess.CalledProcessError(ended.returncode, command)
    lines = [msgspec.json.decode(line) for line in ended.stdout.splitlines()]
    return {line["token"]: line for line in lines if "token" in line}


def _result(truth: LaunchTruth, said: dict[str, Any]) -> LaunchResult:
    line = said.get(truth.token)
    return LaunchResult(
        truth=truth,
        trapped={span: truth.has_trapped(span) for span in SPANS_S},
        verdict=line["verdict"] if line else "not_traded",
        reason=line["reason"] if line else "",
        scored={span: line["buyers"][span]["outcome"] for span in SPANS_S} if line else {},
    )
