"""Drill: ten greedy analysts break nothing, and at most double the p99 of API calls.

One server over a store whose lake has a million transfers, under a steady load from this process.
Ten analysts run statements that take all the memory, time or bytes they can get; in other rounds
ten `assay sql` commands start together. Rounds alternate with rounds without analysts, so that
other work on the machine affects all of them.
"""

import argparse
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing
from itertools import cycle
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from sql.analyst.query_runner import run_sql
from sql.engine.store_files import StoreFiles
from sql.lake.bulk_append import BulkRange, LakeColumns, append_transfers
from sql.lake.lake_file import Lake
from tests.drills._analysts import STATEMENTS, AnalystsSpec, CommandsReport, StatementsReport
from tests.harness.measure.child import Child, running
from tests.harness.measure.http_load import Load, call
from tests.harness.measure.machine import describe
from tests.harness.measure.prepared_tables import (
    TOKENS,
    prepare_tables,
    require_success,
    serving,
    token_request,
)
from tests.harness.measure.table_server import STORE

TRANSFERS = 1_000_000
CALLS_PER_S = 200.0
SETTLE_S = 3.0
MOST_RATIO = 2.0


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


class StatementEnds:
    """Limits that the analysts' statements met, over all rounds."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {name: Counter() for name in STATEMENTS}

    def add(self, report: StatementsReport) -> None:
        """Add a round. Ends the drill where a statement met no limit."""
        if report.broken:
            sys.exit("\n".join(("no limit met:", *report.broken)))
        for name, limits in report.limits.items():
            self.counts[name].update(limits)

    def show(self) -> None:
        """Print a line per statement. Ends the drill where one never ended."""
        for name, limits in self.counts.items():
            if not limits:
                sys.exit(f"the statement for {name} never ended")
            counts = ", ".join(f"{times} times {limit}" for limit, times in limits.items())
            print(f"  {name}: met {counts}")


def measure(folder: Path, *, rounds: int, round_s: float) -> tuple[float, float]:
    """Load the server alone, with statements and with commands in alternating rounds.

    Returns the ratios of the medians of p99, with statements and with commands, to that alone.
    """
    keys = prepare_tables(folder)
    files = StoreFiles(prefix=folder / STORE)
    fill_lake(files)
    calls = cycle(
        [token_request(at % (TOKENS - 1), key) for at, key in enumerate(keys * 5)]  # 299 is prime
    )
    alone: list[Load] = []
    with_statements: list[Load] = []
    with_commands: list[Load] = []
    ends = StatementEnds()
    command_reports: list[CommandsReport] = []
    with serving("assay", folder) as server:
        load(server.port, calls, seconds=2)  # fills the cache
        for _ in range(rounds):
            alone.append(load(server.port, calls, seconds=round_s))
            with analysts("statements", files) as child:
                time.sleep(SETTLE_S)
                with_statements.append(load(server.port, calls, seconds=round_s))
                ends.add(msgspec.json.decode(child.finish(), type=StatementsReport))
            with analysts("commands", files) as child:
                with_commands.append(load(server.port, calls, seconds=round_s))
                command_reports.append(msgspec.json.decode(child.finish(), type=CommandsReport))
        load(server.port, calls, seconds=1)
    refuse_damage(files)
    ends.show()
    show_commands(command_reports)
    show("alone", alone)
    show("beside", with_statements)
    show("starts", with_commands)
    base = median_ms(alone, 99)
    return median_ms(with_statements, 99) / base, median_ms(with_commands, 99) / base


def analysts(
    means: Literal["statements", "commands"], files: StoreFiles
) -> AbstractContextManager[Child]:
    """Run analysts in a child process."""
    return running("tests.drills._analysts", AnalystsSpec(store=str(files.prefix), means=means))


def show_commands(reports: Sequence[CommandsReport]) -> None:
    """Print medians of the rounds of commands. Ends the drill where a command failed."""
    if any(report.failed for report in reports):
        sys.exit("a command that was started with others failed")
    rounds_s = [took_s for report in reports for took_s in report.rounds_s]
    cpu_s = statistics.median(report.cpu_s for report in reports)
    print(
        f"  ten starts at once: answered in {statistics.median(rounds_s):.1f} s, "
        f"{cpu_s:.2f} s of a processor each"
    )


def load(port: int, calls: Iterator[bytes], *, seconds: float) -> Load:
    """Apply a steady load; every call must succeed."""
    return require_success(call(port, calls, seconds=seconds, calls_per_s=CALLS_PER_S))


def refuse_damage(files: StoreFiles) -> None:
    """End the drill unless the next query succeeds and the store is intact."""
    found = run_sql(files.prefix, "select count(*) from v_transfers").rows
    if found != [(TRANSFERS,)]:
        sys.exit(f"the next query returns {found}")
    with closing(sqlite3.connect(files.serving)) as serving_state:
        (state,) = serving_state.execute("pragma integrity_check").fetchone()
    if state != "ok":
        sys.exit(f"the serving state is damaged: {state}")
    print("afterwards the API and the next query succeed, and the store is intact")


def show(side: str, loads: Sequence[Load]) -> None:
    """Print medians over the rounds."""
    times = "  ".join(f"p{at:g} {median_ms(loads, at):.2f} ms" for at in (50, 99, 99.9))
    print(f"{side:7}{sum(len(each.took_s) for each in loads):7} calls: {times}")


def median_ms(loads: Sequence[Load], percent: float) -> float:
    """Return the median of a percentile of each round."""
    return statistics.median(each.percentile_ms(percent) for each in loads)


def main() -> None:
    """Run the drill, and print the ratios of p99."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--round-s", type=float, default=15.0)
    options = parser.parse_args()
    print(describe(f"{TRANSFERS} transfers in the lake, {CALLS_PER_S:.0f} calls/s"))
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        ratio, starts = measure(Path(folder), rounds=options.rounds, round_s=options.round_s)
    print(f"p99 beside {len(STATEMENTS)} analysts: {ratio:.2f} of alone (asked: {MOST_RATIO:g})")
    print(f"p99 beside ten starts at once: {starts:.2f} of alone")
    if ratio > MOST_RATIO:
        sys.exit("too slow beside analysts")


if __name__ == "__main__":
    main()
