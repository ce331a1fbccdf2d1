"""Execution of an analyst's statement in a child process, with limits.

Needs no running service: the process opens the files of the store read-only. A few statements run
on a store at a time, over all processes; more are queued. All calls block; asynchronous callers use
`asyncio.to_thread`.
"""

import fcntl
import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from config.store_address import StoreAddress
from core.errors import QueryError, StoreError
from core.process.low_priority import BEHIND_CALLERS
from sql.analyst.answer_lines import (
    AnswerLine,
    ColumnNames,
    End,
    Failure,
    QueryRequest,
    Ready,
    ResultRow,
    first_rows,
)
from sql.analyst.bounds import Bounds, QueryResult
from sql.engine.child_process import read_some, start_child
from sql.engine.store_files import StoreFiles
from sql.lake.find_place import LakeOwner, message_of, place_of

AT_ONCE: Final = 2
"""Statements that run on one store at the same time."""

_PATIENCE_S = 60.0
"""Seconds that a statement waits in the queue."""

_FIRST_LOOKS_EVERY_S = 0.1
_NEXT_LOOKS_EVERY_S = 0.02


@contextmanager
def query_slot(files: StoreFiles) -> Iterator[int]:
    """Wait for one of the slots; yield the descriptor that locks it.

    The slot is taken until this process has left the block and every process that inherited the
    descriptor has ended. Raises QueryError if no slot becomes free for too long, StoreError if the
    locks cannot be opened.
    """
    until_s = time.monotonic() + _PATIENCE_S
    # Only the first in the queue looks for a slot, so a process cannot take two in a row.
    place = _lock_one([files.query_queue_lock], until_s, _FIRST_LOOKS_EVERY_S)
    try:
        slots = [files.query_lock(slot) for slot in range(AT_ONCE)]
        descriptor = _lock_one(slots, until_s, _NEXT_LOOKS_EVERY_S)
    finally:
        os.close(place)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _lock_one(paths: Sequence[Path], until_s: float, every_s: float) -> int:
    """Lock the first of these files that is free; return its descriptor."""
    while True:
        for path in paths:
            descriptor = _try_lock(path)
            if descriptor is not None:
                return descriptor
        if time.monotonic() >= until_s:
            raise QueryError(reason="too many concurrent statements; try again later", limit="time")
        # Random, so that no waiting process always comes last.
        time.sleep(every_s * random.uniform(0.5, 1.5))  # noqa: S311 - chance, not secrecy


def _try_lock(path: Path) -> int | None:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(path=str(path), reason=str(error)) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


_START_S = 30.0
"""Seconds for a process to open the store."""

_LOOK_EVERY_S = 0.2


def run_sql(
    store: LakeOwner,
    sql: str,
    bounds: Bounds | None = None,
    *,
    is_stopped: Callable[[], bool] = lambda: False,
) -> QueryResult:
    """Run one SELECT on a store, also while another process writes it; return the whole result.

    `is_stopped` is called a few times a second; once it returns True the statement is ended with a
    StoreError.

    Blocks. Raises QueryError for errors of the statement, with the exceeded limit if there is one,
    else StoreError.
    """
    with open_result(store, sql, bounds or Bounds(), is_stopped=is_stopped) as result:
        result.start()
        rows = list(result.rows())
        return QueryResult(columns=result.columns, rows=rows, truncated=result.truncated)


def check_opens(address: StoreAddress) -> None:
    """Check that serving state and lake, if there is one, belong together.

    Runs in a child process, like all reads of the lake. Blocks. Raises StoreError.
    """
    if place_of(address).has_lake():
        run_sql(address, "select 1")


@contextmanager
def open_result(
    store: LakeOwner,
    sql: str,
    bounds: Bounds,
    *,
    parquet: Path | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Iterator["OpenResult"]:
    """Run one SELECT; yield its result, which is streamed.

    `parquet`: the file for the rows, complete once `finish` returns. None: `rows` yields them.
    Blocks. Raises the errors of `run_sql`, also while the result is read.
    """
    place = place_of(store)
    request = QueryRequest(
        store=message_of(place),
        sql=sql,
        parquet=None if parquet is None else str(parquet.absolute()),
        max_rows=bounds.max_rows,
        cuts_rows=bounds.cuts_rows,
        time_limit_s=bounds.time_limit_s,
        memory_mb=bounds.memory_mb,
        max_file_bytes=bounds.max_bytes,
    )
    place.check_serving()
    message = msgspec.json.encode(request)
    with (
        query_slot(place.files) as slot,
        start_child(
            "sql.analyst.query_process", message, niceness=BEHIND_CALLERS, keeps_open=[slot]
        ) as process,
    ):
        try:
            yield OpenResult(_Answer(place.serving_name, bounds, is_stopped).lines(process))
        finally:
            if parquet is not None:
                process.kill()
                process.wait()
                first_rows(parquet).unlink(missing_ok=True)


class OpenResult:
    """The result of a statement that may still be running."""

    def __init__(self, lines: Iterator[AnswerLine]) -> None:
        self._lines = lines
        self.columns: tuple[str, ...] = ()
        """Names of the columns."""
        self.truncated = False
        """True if there were more rows than allowed. Known after the last row."""

    def start(self) -> None:
        """Wait until the columns are known; rows may take longer. Raises QueryError and
        StoreError."""
        head = next(self._lines)
        if isinstance(head, ColumnNames):
            self.columns = head.columns

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Yield the rows with JSON-compatible values. Raises QueryError and StoreError."""
        for line in self._lines:
            if isinstance(line, ResultRow):
                yield line.row
            elif isinstance(line, End):
                self.truncated = line.truncated

    def finish(self) -> None:
        """Wait until all rows are in the Parquet file. Raises QueryError and StoreError."""
        for _ in self.rows():
            pass


class _Answer:
    """Output of a query process."""

    def __init__(self, store: str, bounds: Bounds, is_stopped: Callable[[], bool]) -> None:
        self._store = store
        self._bounds = bounds
        self._is_stopped = is_stopped
        self._bytes = 0
        self._buffer = bytearray()
        self._is_ready = False
        self._until_s = time.monotonic() + _START_S
        """End of the statement's time limit; until the store is open, of the opening's."""

    def lines(self, process: "subprocess.Popen[bytes]") -> Iterator[AnswerLine]:
        """Yield the messages of a process, the end last. Raises QueryError and StoreError."""
        for chunk in self._chunks(process):
            self._count(chunk)
            self._buffer += chunk
            if b"\n" not in chunk:
                continue
            *whole, rest = self._buffer.split(b"\n")
            self._buffer = bytearray(rest)
            for text in whole:
                line = msgspec.json.decode(text, type=AnswerLine)
                if isinstance(line, Failure):
                    raise self._error_of(line)
                if not isinstance(line, Ready):
                    yield line
                    if isinstance(line, End):
                        return
                    continue
                self._is_ready = True
                self._until_s = time.monotonic() + self._bounds.time_limit_s
        raise self._broken_off(process.wait())

    def _chunks(self, process: "subprocess.Popen[bytes]") -> Iterator[bytes]:
        """Yield the output until its end or the time limit."""
        while True:
            left_s = self._until_s - time.monotonic()
            chunk = read_some(process, wait_s=min(max(0.0, left_s), _LOOK_EVERY_S))
            if self._is_stopped():
                raise StoreError(path=self._store, reason="the statement was stopped")
            if chunk == b"":
                return
            if chunk:
                yield chunk
            if left_s <= 0:
                raise self._lateness()

    def _count(self, chunk: bytes) -> None:
        self._bytes += len(chunk)
        most = self._bounds.max_bytes
        if most is not None and self._bytes > most:
            raise QueryError(reason=f"gives more than {most} bytes", limit="bytes")

    def _error_of(self, failure: Failure) -> QueryError | StoreError:
        if failure.is_query:
            return QueryError(reason=failure.error, limit=failure.limit)
        return StoreError(path=self._store, reason=failure.error)

    def _broken_off(self, exit_code: int) -> QueryError | StoreError:
        if not self._is_ready:
            reason = f"the query process ended with {exit_code} before it had opened the store"
            return StoreError(path=self._store, reason=reason)
        # Out of memory, DuckDB or the allocator may abort instead of failing.
        reason = f"needs more memory than {self._bounds.memory_mb} MB: its process broke off"
        return QueryError(reason=reason, limit="memory")

    def _lateness(self) -> QueryError | StoreError:
        if not self._is_ready:
            reason = f"could not be opened within {_START_S:g} s"
            return StoreError(path=self._store, reason=reason)
        reason = f"took longer than {self._bounds.time_limit_s:g} s"
        return QueryError(reason=reason, limit="time")
