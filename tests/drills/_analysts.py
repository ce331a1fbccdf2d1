"""Greedy analysts, as a separate process: `python -m tests.drills._analysts SPEC`.

Either threads that run statements, or rounds of ten `assay sql` commands started together. SPEC is
JSON. Prints a line once all are at work and, after a line of input, one with the results.
"""

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Literal

import msgspec

from core.errors import QueryError, StoreError
from sql.analyst.bounds import Bounds
from sql.analyst.query_runner import run_sql
from tests.harness.measure.child import report

COMMANDS = 10
"""Commands started together."""

STATEMENTS = {
    "a list of a thousand million": (
        "select array_agg(a.range || b.range) from range(1000000) a, range(1000) b"
    ),
    "texts of 100 MB": "select repeat('x', 100000000) as long from range(50)",
    "distances of long texts": (
        "select max(levenshtein(repeat('ab', 3000 + a.range::integer), repeat('ba', 4000)))"
        " from range(100000) a"
    ),
    "a slow pattern": (
        "select count(*) from range(10000000000) a"
        " where regexp_matches(a.range::varchar, '(1|2)*3(4|5)*')"
    ),
    "all transfers by all transfers": (
        "select count(*) from v_transfers a, v_transfers b where a.amount < b.amount"
    ),
    "a recursion without end": (
        "with recursive n as (select 1::bigint as a union all select a + 1 from n)"
        " select sum(a) from n"
    ),
    "more bytes than it may": "select repeat('y', 1000) from range(90000)",
    "a sort of a hundred million": (
        "select list_sort(list(random() || range)) from range(100000000)"
    ),
    "all transfers, sorted": "select * from v_transfers order by amount desc, sender, recipient",
    "a file of the machine": "select * from read_text('/etc/hostname')",
}
"""One statement per analyst, by the resource that it exhausts."""

BOUNDS = Bounds(
    memory_mb=200, time_limit_s=5.0, max_bytes=1_000_000, max_rows=100_000, cuts_rows=False
)


class AnalystsSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Store to query, and the means."""

    store: str
    means: Literal["statements", "commands"]


class StatementsReport(msgspec.Struct, frozen=True, kw_only=True):
    """Ends of all statements."""

    limits: dict[str, dict[str, int]]
    """Number of times that each limit was met, or `refused`, by statement."""
    broken: list[str]
    """Results that are neither."""


class CommandsReport(msgspec.Struct, frozen=True, kw_only=True):
    """Ends of all commands."""

    rounds_s: tuple[float, ...]
    """Time until the last command of each round had its result."""
    cpu_s: float
    """Processor time of one command, the process of its statement included."""
    failed: int


class _Statements:
    def __init__(self, store: Path, stop: threading.Event) -> None:
        self._store = store
        self._stop = stop
        self._limits: dict[str, Counter[str]] = {name: Counter() for name in STATEMENTS}
        self._broken: list[str] = []

    def run(self) -> StatementsReport:
        """Run all statements, each in its thread, until the stop."""
        threads = [threading.Thread(target=self._repeat, args=[name]) for name in STATEMENTS]
        for thread in threads:
            thread.start()
        report("at work")
        for thread in threads:
            thread.join()
        limits = {name: dict(counts) for name, counts in self._limits.items()}
        return StatementsReport(limits=limits, broken=self._broken)

    def _repeat(self, name: str) -> None:
        while not self._stop.is_set():
            try:
                run_sql(self._store, STATEMENTS[name], BOUNDS)
            except QueryError as error:
                self._limits[name][error.limit or "refused"] += 1
            except StoreError as error:
                self._broken.append(f"{name}: {error}")
            else:
                self._broken.append(f"{name}: it returned rows")


def _run_commands(store: str, stop: threading.Event) -> CommandsReport:
    """Start rounds of commands until the stop."""
    report("at work")
    env = {**os.environ, "ASSAY_STORE": store}
    command = [sys.executable, "-m", "assay", "sql", "select count(*) from v_tokens"]
    rounds_s: list[float] = []
    failed = 0
    while not stop.is_set():
        began_s = time.monotonic()
        started = [
            subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            for _ in range(COMMANDS)
        ]
        failed += sum(process.wait() != 0 for process in started)
        rounds_s.append(time.monotonic() - began_s)
    used = os.times()
    cpu_s = (used.children_user + used.children_system) / (COMMANDS * len(rounds_s))
    return CommandsReport(rounds_s=tuple(rounds_s), cpu_s=cpu_s, failed=failed)


def _await_line(stop: threading.Event) -> None:
    sys.stdin.readline()
    stop.set()


def main() -> None:
    """Run the analysts of the first argument."""
    os.setsid()  # as after a login: Linux shares the processor among sessions first
    spec = msgspec.json.decode(sys.argv[1], type=AnalystsSpec)
    stop = threading.Event()
    threading.Thread(target=_await_line, args=[stop], daemon=True).start()
    if spec.means == "statements":
        report(_Statements(Path(spec.store), stop).run())
    else:
        report(_run_commands(spec.store, stop))
    sys.stdin.read()


if __name__ == "__main__":
    main()
