"""A process that runs one statement of an analyst and ends: the child of `query_runner`.

Request on standard input, answer on standard output, both JSON. Whatever a statement does to memory
or to DuckDB, it does to this process alone.
"""

import resource
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import msgspec

from core.errors import QueryError, StoreError
from sql.analyst.answer_lines import (
    AnswerLine,
    ArrowBatch,
    ArrowSchema,
    ColumnNames,
    End,
    Failure,
    QueryRequest,
    Ready,
    ResultRow,
)
from sql.analyst.open_store import open_to_read
from sql.analyst.plain_values import plain_value
from sql.analyst.statement_check import check_statement
from sql.store_files import StoreFiles

_ROWS_AT_ONCE = 100
_ARROW_ROWS_AT_ONCE = 5_000
_ZONED = "WITH TIME ZONE"

_BUFFERS_SHARE = 0.6
"""Of the memory, what DuckDB may use for what it accounts for: an error of its own comes first."""

_GRACE_S = 5
"""Seconds after the time limit at which this process ends itself, if nobody has ended it."""

_MOST_FILE_BYTES = 67_108_864
"""No file is written here but SQLite's own memory of a log."""

_START_S = 60
"""Seconds to open the store; who started this process waits for less."""

_NO_MEMORY = ("out of memory", "bad_alloc", "bad allocation", "failed to allocate")
_MB = 1 << 20


def main() -> None:
    """Answer the request on standard input."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=QueryRequest)
    try:
        connection = _open(request)
    except (StoreError, duckdb.Error) as error:
        reason = error.reason if isinstance(error, StoreError) else str(error)
        _tell(Failure(error=reason, is_query=False))
        return
    _tell(Ready())
    try:
        _answer(connection, request)
    except QueryError as error:
        _tell(Failure(error=error.reason, is_query=True, limit=error.limit))
    except (duckdb.Error, MemoryError) as error:
        _tell(_failure_of(error, request))


def _open(request: QueryRequest) -> duckdb.DuckDBPyConnection:
    """Open the store, then bound what this process may take: nobody's statement has run so far."""
    signal.alarm(_START_S)
    files = StoreFiles(prefix=Path(request.prefix))
    connection = open_to_read(files, memory_mb=int(request.memory_mb * _BUFFERS_SHARE))
    _limit_resources(request)
    return connection


def _answer(connection: duckdb.DuckDBPyConnection, request: QueryRequest) -> None:
    result = connection.execute(check_statement(connection, request.sql))
    if request.form == "arrow":
        _answer_in_arrow(result, request)
        return
    _tell(ColumnNames(columns=tuple(column[0] for column in result.description or ())))
    for given, row in enumerate(_rows_of(result)):
        if given == request.max_rows:
            _tell(_cut_at(request))
            return
        _tell(ResultRow(row=tuple(map(plain_value, row))))
    _tell(End(truncated=False))


def _answer_in_arrow(result: duckdb.DuckDBPyConnection, request: QueryRequest) -> None:
    import pyarrow as pa  # noqa: PLC0415 - takes a tenth of a second to load

    batches: pa.RecordBatchReader = result.to_arrow_reader(_ARROW_ROWS_AT_ONCE)
    _tell(ArrowSchema(schema=batches.schema.serialize().to_pybytes()))
    left = request.max_rows
    try:
        for batch in batches:
            _tell(ArrowBatch(batch=batch[:left].serialize().to_pybytes()))
            if left is not None and batch.num_rows > left:
                _tell(_cut_at(request))
                return
            left = None if left is None else left - batch.num_rows
    except pa.ArrowException as error:  # what DuckDB raised, in other clothes
        raise duckdb.Error(str(error)) from error
    _tell(End(truncated=False))


def _cut_at(request: QueryRequest) -> End:
    """Return the end of a result with more rows than it may have. Raises QueryError."""
    if request.cuts_rows:
        return End(truncated=True)
    raise QueryError(reason=f"gives more than {request.max_rows} rows", limit="rows")


def _rows_of(result: duckdb.DuckDBPyConnection) -> Iterator[Sequence[object]]:
    # DuckDB needs pytz to return times with a zone as Python values; Arrow does not.
    if any(_ZONED in str(column[1]) for column in result.description or ()):
        import pyarrow as pa  # noqa: PLC0415 - DuckDB loads it for this alone

        batches: pa.RecordBatchReader = result.to_arrow_reader(_ROWS_AT_ONCE)
        for batch in batches:
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
        return
    while rows := result.fetchmany(_ROWS_AT_ONCE):
        yield from rows


def _limit_resources(request: QueryRequest) -> None:
    """Bound what this process may take from now on; the operating system holds it to that."""
    seconds = int(request.time_limit_s) + _GRACE_S
    signal.alarm(seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_FILE_BYTES, _MOST_FILE_BYTES))
    most = _address_space() + request.memory_mb * _MB
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _address_space() -> int:
    """Return the bytes of address space in use; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def _failure_of(error: Exception, request: QueryRequest) -> Failure:
    text = str(error)
    is_memory = isinstance(error, (MemoryError, duckdb.OutOfMemoryException))
    # SQLite and libraries below have words of their own for it.
    if is_memory or any(word in text.lower() for word in _NO_MEMORY):
        reason = f"needs more memory than {request.memory_mb} MB: {text}"
        return Failure(error=reason, is_query=True, limit="memory")
    is_store = isinstance(error, (duckdb.FatalException, duckdb.IOException))
    return Failure(error=text, is_query=not is_store)


def _tell(line: AnswerLine) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
    if not isinstance(line, ResultRow):
        sys.stdout.buffer.flush()
