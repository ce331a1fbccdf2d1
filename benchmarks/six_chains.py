"""Lag of the followers behind six live chains, and the cost of following.

Made-up chains grow by the clock in one process, with bursts of ten times the usual transfers and
with reorgs; the followers of all six run in another, on one store.
"""

import argparse
import math
import os
import shutil
import statistics
import tempfile
import time
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks._followers import FollowedChain, FollowersReport, FollowersSpec, Position
from benchmarks._grown_store import grow
from benchmarks._live_node import LiveEndpoint, LiveNodeSpec
from sql.engine.store_files import StoreFiles
from tests.harness.measure.child import Child, running
from tests.harness.measure.machine import describe
from tests.harness.replay.live_chain import Published

INTERVALS_S = {
    "ethereum": 12.0,
    "chain_56": 0.45,
    "chain_42161": 0.25,
    "chain_8453": 2.0,
    "chain_43114": 2.0,
    "chain_4663": 0.1,
}
SAMPLE_EVERY_S = 5.0
"""Interval between two samples of the memory."""
SETTLE_S = 5.0
"""Delay before the first measurement, for blocks from before the start."""


class Lag(msgspec.Struct, frozen=True, kw_only=True):
    """Lag over all blocks that stayed canonical."""

    blocks: int
    """Blocks that the node published."""
    missing: int
    """Blocks that the follower had not stored at the end."""
    level_after_s: float | None
    """Time from the first block until the head was stored. None: it never was."""
    seconds: tuple[float, ...]
    """Time from publication to commit of each block published after that moment."""
    behind: tuple[int, ...]
    """Blocks between the stored tip and the head at each of these commits."""


def measure_lag(published: Sequence[Published], positions: Sequence[Position]) -> Lag:
    """Match publications with commits, both in order of time."""
    canonical = {block.number: block for block in published}
    times = [position.at_s for position in positions]
    published_at = [block.at_s for block in published]

    def head_at(at_s: float) -> Published:
        return published[max(0, bisect_right(published_at, at_s) - 1)]

    level_at = next(
        (one.at_s for one in positions if one.number >= head_at(one.at_s).number), math.inf
    )
    missing, seconds, behind = 0, [], []
    for block in canonical.values():
        committed = _committed(block, positions, bisect_right(times, block.at_s))
        if committed is None:
            missing += 1
        elif block.at_s >= level_at:
            seconds.append(committed.at_s - block.at_s)
            behind.append(max(0, head_at(committed.at_s).number - committed.number))
    return Lag(
        blocks=len(canonical),
        missing=missing,
        level_after_s=None if math.isinf(level_at) else level_at - published[0].at_s,
        seconds=tuple(seconds),
        behind=tuple(behind),
    )


def _committed(block: Published, positions: Sequence[Position], since: int) -> Position | None:
    """Find the first position at the block, or above it."""
    for position in positions[since:]:
        if position.hash == block.hash or position.number > block.number:
            return position
    return None


def percentiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Return median, 99th percentile and maximum; 0 where there is no value."""
    if len(values) < 2:
        return (values[0],) * 3 if values else (0.0,) * 3
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return cuts[49], cuts[98], max(values)


def preload_transfers(store: Path, *, millions: float, kept: Path | None) -> None:
    """Fill a new store with the state that millions of transfers leave in it.

    `kept`: folder of such stores, written once and then copied. None: it is written here.
    """
    if not millions:
        return
    grown = store if kept is None else kept / f"live-{int(millions * 1e6)}"
    if not StoreFiles(prefix=grown).serving.exists():
        grow(grown, int(millions * 1e6), is_followed=False)
    if kept is not None:
        shutil.copyfile(StoreFiles(prefix=grown).serving, StoreFiles(prefix=store).serving)
    os.sync()  # else the first commits wait for gigabytes of write-back


def watch(followers: Child, *, minutes: float) -> None:
    """Let the followers run; print processor share and memory."""
    time.sleep(SETTLE_S)
    cpu_s, started_s = followers.usage.cpu_s(), time.monotonic()
    memory_mb: list[float] = []
    while (left_s := 60 * minutes - SETTLE_S - (time.monotonic() - started_s)) > 0:
        memory_mb.append(followers.usage.memory_mb())
        time.sleep(min(SAMPLE_EVERY_S, left_s))
    share = (followers.usage.cpu_s() - cpu_s) / (time.monotonic() - started_s)
    print(
        f"followers: {100 * share:.1f} % of a core; memory {memory_mb[0]:.0f} MB at the start, "
        f"{describe_minutes(memory_mb)}{followers.usage.peak_mb():.0f} MB at most"
    )


def describe_minutes(memory_mb: Sequence[float]) -> str:
    """Format the median memory of some minutes."""
    a_minute = int(60 / SAMPLE_EVERY_S)
    text = ""
    for minute in (2, 5, 10, 15, 20, 30, 60):
        samples = memory_mb[(minute - 1) * a_minute : minute * a_minute]
        if samples:
            text += f"{statistics.median(samples):.0f} MB in minute {minute}, "
    return text


def show(published: dict[str, list[Published]], report: FollowersReport) -> None:
    """Print one line per chain."""
    print(
        f"{'chain':12}{'blocks':>8}  level after  lag since then: in blocks p50/p99/max   "
        "in seconds p50/p99/max"
    )
    for slug, blocks in published.items():
        lag = measure_lag(blocks, report.positions[slug])
        behind = "/".join(f"{value:.0f}" for value in percentiles(lag.behind))
        seconds = "/".join(f"{value:.2f}" for value in percentiles(lag.seconds))
        reorged = len(blocks) - lag.blocks
        level = "never" if lag.level_after_s is None else f"{lag.level_after_s:.2f} s"
        errors = f"; {len(report.errors[slug])} errors" if report.errors[slug] else ""
        print(
            f"{slug:12}{lag.blocks:8}  {level:>11}  {behind:>38}   {seconds:>22}  "
            f"{reorged} reorganised away, {lag.missing} not stored at the end{errors}"
        )
        for error in report.errors[slug]:
            print(f"  {error}")


def run(spec: LiveNodeSpec, *, stored: float, kept: Path | None) -> None:
    """Run chains and followers in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="assay-six-") as folder:
        store = Path(folder) / "bench.store"
        preload_transfers(store, millions=stored, kept=kept)
        with running("benchmarks._live_node", spec) as node:
            endpoints = msgspec.json.decode(node.started, type=Sequence[LiveEndpoint])
            followed = FollowersSpec(
                store=str(store),
                chains=tuple(
                    FollowedChain(slug=one.slug, urls=one.urls, first_block=one.first_block)
                    for one in endpoints
                ),
            )
            with running("benchmarks._followers", followed) as followers:
                watch(followers, minutes=spec.minutes)
                published = msgspec.json.decode(node.finish(), type=dict[str, list[Published]])
                time.sleep(1.0)  # for the last blocks
                report = msgspec.json.decode(followers.finish(), type=FollowersReport)
        show(published, report)


def main() -> None:
    """Run with the settings of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--transfers-per-s", type=float, default=500.0)
    parser.add_argument("--stored", type=float, default=0.0, help="millions of stored transfers")
    parser.add_argument("--folder", type=Path, help="keep such a store here, and copy it")
    parser.add_argument("--tokens", type=int, default=500, help="of each chain")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reorg-every-s", type=float, default=60.0)
    parser.add_argument("--reorg-depth", type=int, default=3)
    options = parser.parse_args()
    print(
        describe(
            f"six live chains, {options.transfers_per_s:g} transfers/s in all, 3 s of each minute "
            f"ten times that, {options.minutes:g} minutes, {options.stored:g} M stored, "
            f"seed {options.seed}"
        ),
        flush=True,
    )
    spec = LiveNodeSpec(
        seed=options.seed,
        intervals_s=INTERVALS_S,
        transfers_per_s=options.transfers_per_s,
        tokens=options.tokens,
        minutes=options.minutes,
        reorg_every_s=options.reorg_every_s,
        reorg_depth=options.reorg_depth,
    )
    run(spec, stored=options.stored, kept=options.folder)


if __name__ == "__main__":
    main()
