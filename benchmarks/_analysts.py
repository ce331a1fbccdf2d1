"""Greedy analysts in a process of their own: `python -m benchmarks._analysts SPEC`.

SPEC is JSON, and so are the line it prints once all of them are at work and the one that says how
their statements ended: on a line of input none is begun any more.
"""

import os
import sys
import threading
from collections import Counter
from pathlib import Path

import msgspec

from core.errors import QueryError, StoreError
from sql.analyst.bounds import Bounds
from sql.analyst.query_runner import run_sql

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
"""One for each analyst, by what it wants."""

BOUNDS = Bounds(
    memory_mb=200, time_limit_s=5.0, max_bytes=1_000_000, max_rows=100_000, cuts_rows=False
)


class AnalystsSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Where they work."""

    store: str


class AnalystsReport(msgspec.Struct, frozen=True, kw_only=True):
    """What they were told: by statement, how often which bound was met, or `refused`."""

    told: dict[str, dict[str, int]]
    broken: list[str]
    """Answers that are neither."""


class _Analysts:
    def __init__(self, store: Path) -> None:
        self._store = store
        self._stop = threading.Event()
        self._told: dict[str, Counter[str]] = {name: Counter() for name in STATEMENTS}
        self._broken: list[str] = []

    def work(self) -> AnalystsReport:
        """Ask until there is a line of input."""
        threads = [threading.Thread(target=self._ask, args=[name]) for name in STATEMENTS]
        for thread in threads:
            thread.start()
        _tell("at work")
        sys.stdin.readline()
        self._stop.set()
        for thread in threads:
            thread.join()
        told = {name: dict(counts) for name, counts in self._told.items()}
        return AnalystsReport(told=told, broken=self._broken)

    def _ask(self, name: str) -> None:
        while not self._stop.is_set():
            try:
                run_sql(self._store, STATEMENTS[name], BOUNDS)
            except QueryError as error:
                self._told[name][error.limit or "refused"] += 1
            except StoreError as error:
                self._broken.append(f"{name}: {error}")
            else:
                self._broken.append(f"{name}: it was answered")


def main() -> None:
    """See the top."""
    os.setsid()  # as analysts have who log in: Linux shares the processor among sessions first
    spec = msgspec.json.decode(sys.argv[1], type=AnalystsSpec)
    _tell(_Analysts(Path(spec.store)).work())
    sys.stdin.read()


def _tell(value: object) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
