"""What ten greedy analysts at once do to who calls the API, and whether anything is broken after;
and what ten `assay sql` commands do that start at once.

One server over a store whose lake has a million transfers, a steady load from here, and ten
analysts whose statements take all the memory, time or bytes they can get, over and over. Rounds
take turns, alone and beside the analysts, so what else the machine does falls on both.
"""

import argparse
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import cycle
from pathlib import Path

import msgspec
import numpy as np

from benchmarks._analysts import STATEMENTS, AnalystsReport, AnalystsSpec
from benchmarks._load import Load, call
from benchmarks._machine import describe
from benchmarks._server import STORE
from benchmarks._starters import StartersReport, StartersSpec
from benchmarks.api import TOKENS, check, prepare, request, serving
from benchmarks.six_chains import running
from sql.analyst.query_runner import run_sql
from sql.engine.store_files import StoreFiles
from sql.lake.bulk_append import BulkRange, LakeColumns, append_transfers
from sql.lake.lake_file import Lake

TRANSFERS = 1_000_000
CALLS_PER_S = 200.0
SETTLE_S = 3.0
ASKED_RATIO = 2.0


def fill_lake(files: StoreFiles) -> None:
    """Write transfers of one token between made-up accounts."""
    dice = np.random.default_rng(7)
    drawn = ("sender_mid", "sender_low", "recipient_mid", "recipient_low", "word0")
    places = np.arange(TRANSFERS, dtype=np.int64)
    transfers: LakeColumns = {
        "block_number": places // 100,
        "log_index": (places % 100).astype(np.int32),
        "token_id": np.ones(TRANSFERS, np.int32),
        "time_s": np.full(TRANSFERS, -1, np.int64),
        "sender_high": np.ones(TRANSFERS, np.uint32),
        "recipient_high": np.ones(TRANSFERS, np.uint32),
        **{name: dice.integers(0, 2**32, TRANSFERS, dtype=np.uint64) for name in drawn},
        **{name: np.zeros(TRANSFERS, np.uint64) for name in ("word1", "word2", "word3")},
    }
    tokens: LakeColumns = {
        "token_id": np.ones(1, np.int32),
        "high": np.frombuffer(b"\x01" * 4, np.uint32),
        "mid": np.frombuffer(b"\x01" * 8, np.uint64),
        "low": np.frombuffer(b"\x01" * 8, np.uint64),
    }
    whole = BulkRange(chain_id=1, stream="bench", from_block=0, to_block=TRANSFERS // 100)
    with closing(Lake.open(files)) as lake:
        append_transfers(lake, whole, transfers=transfers, tokens=tokens, stored=None)


class Told:
    """How the analysts' statements ended, over all rounds."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {name: Counter() for name in STATEMENTS}

    def add(self, report: AnalystsReport) -> None:
        """Take in a round. Ends the benchmark where a statement was not told a bound."""
        if report.broken:
            sys.exit("\n".join(("not told a bound:", *report.broken)))
        for name, told in report.told.items():
            self.counts[name].update(told)

    def show(self) -> None:
        """One line a statement. Ends the benchmark where one never ended."""
        for name, told in self.counts.items():
            if not told:
                sys.exit(f"who wants {name} was never answered")
            said = ", ".join(f"{times} times {bound}" for bound, times in told.items())
            print(f"  {name}: told {said}")


def measure(folder: Path, *, rounds: int, round_s: float) -> tuple[float, float]:
    """Alone, beside analysts and beside starts in turns; return the ratios of the medians of p99 to
    that of alone."""
    keys = prepare(folder)
    files = StoreFiles(prefix=folder / STORE)
    fill_lake(files)
    calls = cycle(
        [request(at % (TOKENS - 1), key) for at, key in enumerate(keys * 5)]  # 299 is prime
    )
    alone: list[Load] = []
    beside: list[Load] = []
    starting: list[Load] = []
    told = Told()
    started: list[StartersReport] = []
    with serving("assay", folder) as server:
        load(server.port, calls, seconds=2)  # fills the cache
        for _ in range(rounds):
            alone.append(load(server.port, calls, seconds=round_s))
            with running("_analysts", AnalystsSpec(store=str(files.prefix))) as analysts:
                time.sleep(SETTLE_S)
                beside.append(load(server.port, calls, seconds=round_s))
                told.add(msgspec.json.decode(analysts.finish(), type=AnalystsReport))
            with running("_starters", StartersSpec(store=str(files.prefix))) as starters:
                starting.append(load(server.port, calls, seconds=round_s))
                started.append(msgspec.json.decode(starters.finish(), type=StartersReport))
        load(server.port, calls, seconds=1)
    refuse_damage(files)
    told.show()
    show_starts(started)
    show("alone", alone)
    show("beside", beside)
    show("starts", starting)
    base = median_ms(alone, 99)
    return median_ms(beside, 99) / base, median_ms(starting, 99) / base


def show_starts(reports: Sequence[StartersReport]) -> None:
    """Medians of what ten starts took. Ends the benchmark where a command failed."""
    if any(report.failed for report in reports):
        sys.exit("a command that was started beside others failed")
    rounds_s = [took_s for report in reports for took_s in report.rounds_s]
    cpu_s = statistics.median(report.cpu_s for report in reports)
    print(
        f"  ten starts at once: answered in {statistics.median(rounds_s):.1f} s, "
        f"{cpu_s:.2f} s of a processor each"
    )


def load(port: int, calls: Iterator[bytes], *, seconds: float) -> Load:
    """A steady load, every call of which is answered."""
    return check(call(port, calls, seconds=seconds, calls_per_s=CALLS_PER_S))


def refuse_damage(files: StoreFiles) -> None:
    """End the benchmark unless the next analyst is answered and the store is whole."""
    found = run_sql(files.prefix, "select count(*) from v_transfers").rows
    if found != [(TRANSFERS,)]:
        sys.exit(f"the next analyst is answered {found}")
    with closing(sqlite3.connect(files.serving)) as serving_state:
        (state,) = serving_state.execute("pragma integrity_check").fetchone()
    if state != "ok":
        sys.exit(f"the serving state is damaged: {state}")
    print("after it the API and the next analyst are answered, and the store is whole")


def show(side: str, loads: Sequence[Load]) -> None:
    """Medians over the rounds."""
    times = "  ".join(f"p{at:g} {median_ms(loads, at):.2f} ms" for at in (50, 99, 99.9))
    print(f"{side:7}{sum(len(each.took_s) for each in loads):7} calls: {times}")


def median_ms(loads: Sequence[Load], percent: float) -> float:
    """Of a percentile of each round."""
    return statistics.median(each.percentile_ms(percent) for each in loads)


def main() -> None:
    """See the top."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--round-s", type=float, default=15.0)
    asked = parser.parse_args()
    print(describe(f"{TRANSFERS} transfers in the lake, {CALLS_PER_S:.0f} calls/s"))
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        ratio, starts = measure(Path(folder), rounds=asked.rounds, round_s=asked.round_s)
    print(f"p99 beside {len(STATEMENTS)} analysts: {ratio:.2f} of alone (asked: {ASKED_RATIO:g})")
    print(f"p99 beside ten starts at once: {starts:.2f} of alone")
    if ratio > ASKED_RATIO:
        sys.exit("too slow beside analysts")


if __name__ == "__main__":
    main()
