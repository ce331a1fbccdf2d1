"""Whether `assay backtest` holds over generated launches: a confusion matrix by class.

Honest tokens of many kinds, tokens whose owners use their powers, and traps composed at random
(tests/redteam) are launched on nodes of this machine, bought and sold for a week by ordinary
people, indexed by the follower, and judged as of before their first trade by the command itself.
Who was trapped is told by receipts and balances, and beside it by the command's own score. Ends
with 1 where a token that trapped a buyer within an hour was called safe though its code shows it.
"""

import argparse
import asyncio
import itertools
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks._machine import describe
from config.chains import Chain
from config.load import load_chains
from config.settings_model import IndexerSettings, RpcSettings
from core.rpc.client import RpcClient
from demo.anvil import AnvilNode
from demo.compile import load_artifacts
from demo.overlay import write_overlay
from demo.world import build_market
from indexer.follow import follow
from indexer.follower_status import FollowStatus
from sql.quote_tokens import write_quote_tokens
from sql.store import Store
from tests.redteam.launch_kinds import UNKNOWABLE, compose_launches
from tests.redteam.launch_life import LaunchLife
from tests.redteam.launch_truth import SPANS_S, LaunchTruth
from tests.redteam.model import Trap
from tests.redteam.people import People
from tests.redteam.place import compile_traps, place_traps

STATES_KEPT: Final = 900
"""Above the blocks of a batch, so that each token can be judged as of before its first trade."""
_FOLLOW_S: Final = 300.0
_SHOWN: Final = 8
_EXIT_WRONG: Final = (0, 1)


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One launch: what happened, what was said, and how the command scored it."""

    truth: LaunchTruth
    trapped: dict[str, bool]
    """By span, as receipts and balances tell."""
    verdict: str
    reason: str
    scored: dict[str, str]
    """The command's outcome, by span."""

    @property
    def is_knowable(self) -> bool:
        """Whether code and state before the first trade hold what happened."""
        return self.truth.axis not in UNKNOWABLE

    @property
    def is_false_safe(self) -> bool:
        """Called safe, and it trapped a buyer within the hour."""
        return self.verdict == "safe" and self.trapped["hour"]


def run_batch(traps: Sequence[Trap], folder: Path) -> list[Result]:
    """A chain of their own, for some launches; its state is in memory."""
    with AnvilNode(states_kept=STATES_KEPT) as node:
        marks = [time.perf_counter()]
        world = build_market(node)
        overlay = write_overlay(world, folder / "overlay")
        artifacts = load_artifacts() | compile_traps(traps)
        placed = place_traps(node, world, artifacts, traps)
        people = People(node)
        people.bustle()
        marks.append(time.perf_counter())
        first = node.head_number() + 1
        truths = LaunchLife(people, world, placed).run()
        last = node.head_number()
        marks.append(time.perf_counter())
        chain = next(chain for chain in load_chains(overlay) if chain.id == node.chain_id)
        asyncio.run(_index(chain, node, folder / "store"))
        marks.append(time.perf_counter())
        env = {
            "ASSAY_STORE": str(folder / "store"),
            "ASSAY_CONFIG": str(overlay),
            f"ASSAY_RPC_{chain.id}": node.url,
        }
        said = _backtest(chain, env, first=first, last=last)
        marks.append(time.perf_counter())
    steps = ("placed", "lived", "indexed", "judged")
    spent = [now - then for then, now in itertools.pairwise(marks)]
    told = ", ".join(f"{name} {took:.0f} s" for name, took in zip(steps, spent, strict=True))
    print(f"{len(traps)} launches, {last} blocks: {told}", file=sys.stderr, flush=True)
    return [_result(truth, said) for truth in truths]


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


def _result(truth: LaunchTruth, said: dict[str, Any]) -> Result:
    line = said.get(truth.token)
    return Result(
        truth=truth,
        trapped={span: truth.has_trapped(span) for span in SPANS_S},
        verdict=line["verdict"] if line else "not_traded",
        reason=line["reason"] if line else "",
        scored={span: line["buyers"][span]["outcome"] for span in SPANS_S} if line else {},
    )


def render(results: Sequence[Result]) -> str:
    """The matrix, and what is wrong."""
    verdicts = ("safe", "warning", "danger", "not_tested", "refused", "not_judged", "not_traded")
    widths = [max(9, len(one) + 1) for one in verdicts]
    heads = "".join(name.rjust(width) for name, width in zip(verdicts, widths, strict=True))
    lines = [f"{'class':<24}{'trapped in':<12}{heads}"]
    groups = sorted({(not one.is_knowable, one.truth.axis) for one in results})
    for is_unknowable, axis in groups:
        own = [one for one in results if one.truth.axis == axis]
        for span, chosen in _by_span(own):
            if not chosen:
                continue
            count = Counter(one.verdict for one in chosen)
            cells = "".join(
                str(count[name] or "").rjust(width)
                for name, width in zip(verdicts, widths, strict=True)
            )
            name = f"{axis}*" if is_unknowable else axis
            lines.append(f"{name:<24}{span:<12}{cells}")
    lines.append("* cannot be known before the first trade: nothing of it is in the code")
    trapped = [one for one in results if one.trapped["hour"]]
    wrong = [one for one in trapped if one.is_false_safe]
    lines.append(
        f"{len(results)} launches, {len(trapped)} trapped a buyer within the hour; of these called "
        f"safe: {sum(one.is_knowable for one in wrong)} visible in code, "
        f"{sum(not one.is_knowable for one in wrong)} not"
    )
    lines += [f"  safe: {one.truth.label}: {one.truth.words}" for one in wrong]
    for span in SPANS_S:
        bad = [one for one in results if one.scored and one.truth.has_bad_trade(span)]
        missed = [one for one in bad if one.scored[span] != "trapped"]
        slandered = [one for one in results if one.scored.get(span) == "trapped" and one not in bad]
        lines.append(
            f"scored by the command within the {span}: of {len(bad)} with a bad trade "
            f"{len(missed)} were not seen to trap; {len(slandered)} others were said to"
        )
        for what, chosen in (("not seen", missed), ("said to", slandered)):
            lines += [f"  {what}: {one.truth.label}: {one.truth.words}" for one in chosen[:_SHOWN]]
    robbed = sum(one.truth.stolen_s is not None for one in results)
    lines.append(f"{robbed} were robbed by somebody else's transaction, which no trade shows")
    return "\n".join(lines)


def _by_span(results: Sequence[Result]) -> Iterable[tuple[str, list[Result]]]:
    """Each result once, by the first span that it trapped in."""
    left = list(results)
    for span in SPANS_S:
        yield span, [one for one in left if one.trapped[span]]
        left = [one for one in left if not one.trapped[span]]
    yield "never", left


def main() -> None:
    """See the top."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launches", type=int, default=200)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    parser.add_argument("--batch", type=int, default=100, help="launches on one chain")
    parser.add_argument("--only", default="", help="a word of the labels")
    parser.add_argument("--out", type=Path, help="all results as JSON")
    asked = parser.parse_args()
    print(describe(f"{asked.launches} launches, seed {asked.seed}"), flush=True)
    launches = compose_launches(asked.seed, asked.launches)
    launches = [trap for trap in launches if asked.only in trap.label]
    results: list[Result] = []
    for at in range(0, len(launches), asked.batch):
        with tempfile.TemporaryDirectory() as folder:
            results += run_batch(launches[at : at + asked.batch], Path(folder))
        if asked.out:
            asked.out.write_bytes(msgspec.json.encode(results))
        wrong = sum(one.is_false_safe and one.is_knowable for one in results)
        print(f"{len(results)} of {len(launches)}, {wrong} wrong", file=sys.stderr, flush=True)
    print(render(results))
    sys.exit(any(one.is_false_safe and one.is_knowable for one in results))


if __name__ == "__main__":
    main()
