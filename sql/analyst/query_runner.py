"""Runs one statement of an analyst in a process of its own, and holds it to its bounds.

Needs no running service and no lock: the process opens the files of the store read-only. All calls
block; asynchronous callers use `asyncio.to_thread`.
"""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from core.errors import QueryError, StoreError
from sql.analyst.answer_lines import (
    AnswerLine,
    ColumnNames,
    End,
    Failure,
    QueryRequest,
    Ready,
    ResultRow,
)
from sql.analyst.bounds import Bounds, QueryResult
from sql.analyst.query_turns import query_turn
from sql.child_process import child_of, read_some
from sql.store_files import StoreFiles

_NICENESS = 10
"""An analyst waits for the answer, and callers of the API go first."""

_START_S = 30.0
"""Seconds until a process has opened the store."""


def run_sql(store: Path, sql: str, bounds: Bounds | None = None) -> QueryResult:
    """Run one SELECT on a store, also while another process writes it.

    Blocks. Raises QueryError for faults of the statement, with the bound it met if it met one, else
    StoreError.
    """
    bounds = bounds or Bounds()
    request = QueryRequest(
        prefix=str(store.absolute()),
        sql=sql,
        max_rows=bounds.max_rows,
        cuts_rows=bounds.cuts_rows,
        time_limit_s=bounds.time_limit_s,
        memory_mb=bounds.memory_mb,
    )
    files = StoreFiles(prefix=store)
    if not files.serving.exists():
        raise StoreError(path=str(files.serving), reason="there is no such file")
    message = msgspec.json.encode(request)
    with (
        query_turn(files) as turn,
        child_of(
            "sql.analyst.query_process", message, niceness=_NICENESS, keeps_open=[turn]
        ) as process,
    ):
        answer = _Answer(store, bounds)
        for some in _chunks(process, answer):
            answer.add(some)
        return answer.result(process.wait())


def check_opens(store: Path) -> None:
    """Check that the serving state and the lake beside it, if there is one, belong together.

    In a process of its own, as all that reads the lake. Blocks. Raises StoreError.
    """
    if StoreFiles(prefix=store).lake.exists():
        run_sql(store, "select 1")


class _Answer:
    """What has come from a process so far."""

    def __init__(self, store: Path, bounds: Bounds) -> None:
        self._store = store
        self._bounds = bounds
        self._left = bounds.max_bytes
        self._buffer = bytearray()
        self._columns: tuple[str, ...] = ()
        self._rows: list[tuple[object, ...]] = []
        self._end: End | Failure | None = None
        self._is_ready = False
        self._until_s = time.monotonic() + _START_S
        """End of the statement's time; before the store is open, of the opening's."""

    def add(self, some: bytes) -> None:
        """Take in output. Raises QueryError when it is more than allowed."""
        self._left -= len(some)
        if self._left < 0:
            reason = f"gives more than {self._bounds.max_bytes} bytes"
            raise QueryError(reason=reason, limit="bytes")
        self._buffer += some
        *lines, rest = self._buffer.split(b"\n")
        self._buffer = bytearray(rest)
        for line in lines:
            self._take(msgspec.json.decode(line, type=AnswerLine))

    def result(self, exit_code: int) -> QueryResult:
        """Return the result of a process that has ended. Raises QueryError and StoreError."""
        match self._end:
            case End(truncated=truncated):
                return QueryResult(columns=self._columns, rows=self._rows, truncated=truncated)
            case Failure(is_query=True) as failure:
                raise QueryError(reason=failure.error, limit=failure.limit)
            case Failure() as failure:
                raise StoreError(path=str(self._store), reason=failure.error)
        if not self._is_ready:
            reason = f"the query process ended with {exit_code} before it had opened the store"
            raise StoreError(path=str(self._store), reason=reason)
        # Where memory ends, DuckDB or the allocator may abort instead of failing.
        reason = f"needs more memory than {self._bounds.memory_mb} MB: its process broke off"
        raise QueryError(reason=reason, limit="memory")

    def time_left_s(self) -> float:
        """Return the seconds that are left to the statement, or to the opening of the store."""
        return self._until_s - time.monotonic()

    def refuse_lateness(self) -> None:
        """Raise what the end of the time means, unless the answer is complete."""
        if self._end is not None:
            return
        if not self._is_ready:
            reason = f"could not be opened within {_START_S:g} s"
            raise StoreError(path=str(self._store), reason=reason)
        reason = f"took longer than {self._bounds.time_limit_s:g} s"
        raise QueryError(reason=reason, limit="time")

    def _take(self, line: AnswerLine) -> None:
        match line:
            case Ready():
                self._is_ready = True
                self._until_s = time.monotonic() + self._bounds.time_limit_s
            case ColumnNames():
                self._columns = line.columns
            case ResultRow():
                self._rows.append(line.row)
            case _:
                self._end = line


def _chunks(process: "subprocess.Popen[bytes]", answer: _Answer) -> Iterator[bytes]:
    """Yield output as it comes, until its end.

    Raises QueryError when the statement takes too long, StoreError when opening the store does.
    """
    while True:
        left_s = answer.time_left_s()
        some = read_some(process, wait_s=max(0.0, left_s))
        if some == b"":
            return
        if some:
            yield some
        if left_s <= 0:
            answer.refuse_lateness()
