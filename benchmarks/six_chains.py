"""How far the service's followers are behind six live chains, and what following costs.

Chains of our own grow by the clock in a process of their own, with bursts of ten times the usual
transfers and with reorgs; the followers of all six run in another, on one store.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from benchmarks._followers import FollowedChain, FollowersReport, FollowersSpec
from benchmarks._grown_store import grow
from benchmarks._lag import measure_lag, percentiles
from benchmarks._live_node import LiveEndpoint, LiveNodeSpec
from benchmarks._machine import ROOT, describe
from benchmarks._process import Process
from sql.engine.store_files import StoreFiles
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
"""Between two looks at the memory."""
SETTLE_S = 5.0
"""Before the first measurement: what was before the start is read then."""
_LONGEST_END_S = 60.0


class Child:
    """A process of ours that says a line when it runs, and one when it is told to finish."""

    def __init__(self, module: str, spec: msgspec.Struct) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"benchmarks.{module}", msgspec.json.encode(spec).decode()],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.started = self._line()
        self.usage = Process(self._process.pid)

    def finish(self) -> bytes:
        """Tell it to finish; what it has to say of the run."""
        if self._process.stdin is not None:
            self._process.stdin.write(b"finish\n")
            self._process.stdin.flush()
        return self._line()

    def stop(self) -> None:
        """Whatever it does."""
        self._process.terminate()
        try:
            self._process.wait(_LONGEST_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _line(self) -> bytes:
        line = self._process.stdout.readline() if self._process.stdout else b""
        if not line:
            sys.exit("a process of the benchmark ended before its time; its reason is above")
        return line


@contextmanager
def running(module: str, spec: msgspec.Struct) -> Iterator[Child]:
    """A child, stopped at the end."""
    child = Child(module, spec)
    try:
        yield child
    finally:
        child.stop()


def preload_transfers(store: Path, *, millions: float, kept: Path | None) -> None:
    """Fill a new store with what so many transfers of one of the chains leave in it.

    `kept`: folder of such stores, written once and then copied. None: it is written here.
    """
    if not millions:
        return
    grown = store if kept is None else kept / f"live-{int(millions * 1e6)}"
    if not StoreFiles(prefix=grown).serving.exists():
        grow(grown, int(millions * 1e6), is_followed=False)
    if kept is not None:
        shutil.copyfile(StoreFiles(prefix=grown).serving, StoreFiles(prefix=store).serving)
    os.sync()  # else the first commits wait until the disk has taken gigabytes


def watch(followers: Child, *, minutes: float) -> None:
    """Let them run; print what it cost."""
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
    """Median memory of some of the minutes, from samples of all."""
    a_minute = int(60 / SAMPLE_EVERY_S)
    told = ""
    for minute in (2, 5, 10, 15, 20, 30, 60):
        samples = memory_mb[(minute - 1) * a_minute : minute * a_minute]
        if samples:
            told += f"{statistics.median(samples):.0f} MB in minute {minute}, "
    return told


def show(published: dict[str, list[Published]], report: FollowersReport) -> None:
    """One line a chain."""
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
        told = f"; {len(report.errors[slug])} errors" if report.errors[slug] else ""
        print(
            f"{slug:12}{lag.blocks:8}  {level:>11}  {behind:>38}   {seconds:>22}  "
            f"{reorged} reorganised away, {lag.missing} not stored at the end{told}"
        )
        for error in report.errors[slug]:
            print(f"  {error}")


def run(spec: LiveNodeSpec, *, stored: float, kept: Path | None) -> None:
    """Everything in one folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="assay-six-") as folder:
        store = Path(folder) / "bench.store"
        preload_transfers(store, millions=stored, kept=kept)
        with running("_live_node", spec) as node:
            endpoints = msgspec.json.decode(node.started, type=Sequence[LiveEndpoint])
            followed = FollowersSpec(
                store=str(store),
                chains=tuple(
                    FollowedChain(slug=one.slug, urls=one.urls, first_block=one.first_block)
                    for one in endpoints
                ),
            )
            with running("_followers", followed) as followers:
                watch(followers, minutes=spec.minutes)
                published = msgspec.json.decode(node.finish(), type=dict[str, list[Published]])
                time.sleep(1.0)  # for the last blocks
                report = msgspec.json.decode(followers.finish(), type=FollowersReport)
        show(published, report)


def main() -> None:
    """See the top."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--transfers-per-s", type=float, default=500.0)
    parser.add_argument("--stored", type=float, default=0.0, help="millions of stored transfers")
    parser.add_argument("--folder", type=Path, help="keep such a store here, and copy it")
    parser.add_argument("--tokens", type=int, default=500, help="of each chain")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reorg-every-s", type=float, default=60.0)
    parser.add_argument("--reorg-depth", type=int, default=3)
    asked = parser.parse_args()
    print(
        describe(
            f"six live chains, {asked.transfers_per_s:g} transfers/s in all, 3 s of each minute "
            f"ten times that, {asked.minutes:g} minutes, {asked.stored:g} M stored, "
            f"seed {asked.seed}"
        ),
        flush=True,
    )
    spec = LiveNodeSpec(
        seed=asked.seed,
        intervals_s=INTERVALS_S,
        transfers_per_s=asked.transfers_per_s,
        tokens=asked.tokens,
        minutes=asked.minutes,
        reorg_every_s=asked.reorg_every_s,
        reorg_depth=asked.reorg_depth,
    )
    run(spec, stored=asked.stored, kept=asked.folder)


if __name__ == "__main__":
    main()
