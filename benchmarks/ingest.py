"""Speed of a back-fill, compared with other indexers that read the same bytes.

The node of a replayed chain is a separate process, and so is each run of a program, start and end
included. Programs alternate, so that other work on the machine affects all of them. Clients share
one core; the node has another where there is one. The transfers that each program has stored are
compared with those of the chain.
"""

import argparse
import os
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks._backfillers import LEFT_OUT, OTHERS, OURS, Backfiller
from benchmarks._replay_node import NodeSpec, RunningNode, replaying
from tests.harness.measure.machine import describe
from tests.harness.measure.process_cost import Cost, RunFailedError
from tests.harness.replay.log_formats import LOG_FORMATS

SLOW = frozenset({"ethereum-etl"})
"""Programs that take minutes and are run once only."""


def find_usable(others: Sequence[Backfiller]) -> list[Backfiller]:
    """Return the programs that run here; print the reason for each of the others."""
    found = []
    for other in others:
        reason = other.missing()
        if reason is None:
            found.append(other)
        else:
            print(f"{other.name} left out: {reason}")
    return found


def run_once(one: Backfiller, node: RunningNode) -> Cost | None:
    """Run and print one back-fill into an empty folder. None: it failed."""
    with tempfile.TemporaryDirectory(prefix="assay-ingest-") as name:
        folder = Path(name)
        try:
            cost = one.run(node, folder)
            count = one.count(node, folder)
        except RunFailedError as error:
            lines = str(error).strip().splitlines()
            print(f"  {one.name} failed: {lines[-1] if lines else 'without output'}", flush=True)
            return None
    expected = node.expected[one.reading]
    verdict = "as on the chain" if count == expected else f"NOT as on the chain: {expected}"
    print(
        f"  {one.name:21}{cost.wall_s:7.2f} s {cost.cpu_s:7.2f} CPU s {cost.peak_mb:6.0f} MB"
        f"{node.logs / cost.wall_s:10,.0f} logs/s{node.logs / cost.cpu_s:10,.0f} logs/CPU s;"
        f" {count.rows} transfers of tracked tokens, {verdict}",
        flush=True,
    )
    return cost


def show(costs: Mapping[str, Sequence[Cost]], node: RunningNode) -> None:
    """Print medians, and ratios to ours round by round."""
    ours = costs[OURS.name]
    for name, theirs in costs.items():
        if not theirs:
            continue
        wall_s, cpu_s, peak_mb = (
            statistics.median(getattr(cost, field) for cost in theirs)
            for field in ("wall_s", "cpu_s", "peak_mb")
        )
        line = (
            f"{name:23}{node.logs / wall_s:9,.0f} logs/s {node.logs / cpu_s:9,.0f} logs/CPU s"
            f" {peak_mb:6.0f} MB"
        )
        if name != OURS.name:
            pairs = list(zip(theirs, ours, strict=False))
            wall = [its.wall_s / our.wall_s for its, our in pairs]
            cpu = [its.cpu_s / our.cpu_s for its, our in pairs]
            line += (
                f"; ours is {_ratios(wall)} times as fast by the clock, {_ratios(cpu)} by CPU"
                if wall
                else ""
            )
        print(line)


def _ratios(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f} ({', '.join(f'{one:.2f}' for one in values)})"


def measure(node: RunningNode, *, rounds: int, others: Sequence[Backfiller]) -> None:
    """Run and print all rounds."""
    print("warming up:")
    for one in (OURS, *(other for other in others if other.name not in SLOW)):
        run_once(one, node)
    costs: dict[str, list[Cost]] = {one.name: [] for one in (OURS, *others)}
    for at in range(rounds):
        print(f"round {at + 1}:")
        for one in (OURS, *others):
            if at == 0 or one.name not in SLOW:
                cost = run_once(one, node)
                costs[one.name] += [] if cost is None else [cost]
    show(costs, node)


def main() -> None:
    """Run with the settings of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=2_000)
    parser.add_argument("--logs-per-block", type=int, default=200)
    parser.add_argument("--tokens", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=LOG_FORMATS, default="geth")
    parser.add_argument("--alone", action="store_true", help="do not install or run other tools")
    options = parser.parse_args()
    spec = NodeSpec(
        chain="ethereum",
        seed=options.seed,
        blocks=options.blocks,
        logs_per_block=options.logs_per_block,
        tokens=options.tokens,
        log_format=options.format,
    )
    print(*LEFT_OUT, sep="\n")
    others = [] if options.alone else find_usable(OTHERS)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[-1]})
    with replaying(spec) as node:
        os.sched_setaffinity(0, {cores[0]})
        print(
            describe(
                f"replayed chain of {options.blocks} blocks, {node.logs:,} logs, "
                f"{node.log_bytes / 1e6:.0f} MB of JSON as {options.format} writes it, "
                f"seed {options.seed}"
            ),
            flush=True,
        )
        measure(node, rounds=options.rounds, others=others)


if __name__ == "__main__":
    main()
