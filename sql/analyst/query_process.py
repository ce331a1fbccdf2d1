"""Child process of `query_runner` that runs one statement of an analyst.

Reads a request from standard input, writes the result to standard output, both JSON. It isolates
the statement's memory and crashes of DuckDB.
"""

import math
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
    ColumnNames,
    End,
    Failure,
    QueryRequest,
    Ready,
    ResultRow,
    first_rows,
)
from sql.analyst.statement_check import check_statement
from sql.lake.find_place import place_of
from sql.lake.lake_place import LakePlace
from sql.lake.open_store import open_to_read

_LARGEST_JSON_INT = 2**63


def plain_value(value: object) -> object:
    """Convert a value: integers beyond 64 bits, times and decimals become text; bytes 0x text."""
    plain: object = str(value)
    if value is None or isinstance(value, (bool, str)):
        plain = value
    elif isinstance(value, int):
        plain = value if -_LARGEST_JSON_INT <= value < _LARGEST_JSON_INT else plain
    elif isinstance(value, float):
        plain = value if math.isfinite(value) else plain
    elif isinstance(value, (bytes, bytearray)):
        plain = "0x" + value.hex()
    elif isinstance(value, (list, tuple)):
        plain = [plain_value(item) for item in value]
    elif isinstance(value, dict):
        plain = {str(key): plain_value(item) for key, item in value.items()}
    return plain


_ROWS_AT_ONCE = 100

_BUFFERS_SHARE = 0.6
"""Share of the memory that DuckDB may account for, so that it fails before the system's limit."""

_GRACE_S = 5
"""Seconds after the time limit at which this process ends itself."""

_MOST_FILE_BYTES = 67_108_864
"""Limit of a written file: apart from the requested Parquet file only SQLite's shared memory is
written."""

_START_S = 60
"""Seconds to open the store; the parent process waits for less."""

_TOO_LARGE = "File too large"
_NO_MEMORY = ("out of memory", "bad_alloc", "bad allocation", "failed to allocate")
_MB = 1 << 20


def main() -> None:
    """Run the request on standard input."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=QueryRequest)
    place = place_of(request.store.address())
    try:
        connection = _open(place, request)
    except (StoreError, duckdb.Error) as error:
        reason = error.reason if isinstance(error, StoreError) else str(error)
        _tell(Failure(error=place.masked(reason), is_query=False))
        return
    _tell(Ready())
    try:
        _answer(connection, request, only_views=place.engine == "postgres")
    except QueryError as error:
        _tell(Failure(error=place.masked(error.reason), is_query=True, limit=error.limit))
    except (duckdb.Error, MemoryError) as error:
        failure = _failure_of(error, request)
        _tell(msgspec.structs.replace(failure, error=place.masked(failure.error)))


def _open(place: LakePlace, request: QueryRequest) -> duckdb.DuckDBPyConnection:
    """Open the store, then limit this process, before any statement of the analyst runs."""
    signal.alarm(_START_S)
    path = _path_of(request)
    connection = open_to_read(
        place,
        memory_mb=int(request.memory_mb * _BUFFERS_SHARE),
        writes=() if path is None else (path, first_rows(path)),
    )
    _limit_resources(request)
    return connection


def _answer(
    connection: duckdb.DuckDBPyConnection, request: QueryRequest, *, only_views: bool
) -> None:
    statement = check_statement(connection, request.sql, only_views=only_views)
    path = _path_of(request)
    if path is not None:
        _answer_in_parquet(connection, statement, path, request)
        return
    result = connection.execute(statement)
    _tell(ColumnNames(columns=tuple(column[0] for column in result.description or ())))
    for given, row in enumerate(_rows_of(result)):
        if given == request.max_rows:
            _tell(_cut_at(request))
            return
        _tell(ResultRow(row=tuple(map(plain_value, row))))
    _tell(End(truncated=False))


def _answer_in_parquet(
    connection: duckdb.DuckDBPyConnection,
    statement: duckdb.Statement,
    path: Path,
    request: QueryRequest,
) -> None:
    result = connection.sql(statement)
    _tell(ColumnNames(columns=tuple(result.columns)))
    most = request.max_rows
    # One more row shows if there are more.
    _write_parquet(result if most is None else result.limit(most + 1), path)
    if most is None or _count(connection, path) <= most:
        _tell(End(truncated=False))
        return
    end = _cut_at(request)
    kept = first_rows(path)
    _write_parquet(connection.read_parquet(str(path)).limit(most), kept)
    kept.replace(path)
    _tell(end)


def _write_parquet(rows: duckdb.DuckDBPyRelation, path: Path) -> None:
    rows.write_parquet(str(path), compression="zstd")


def _count(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    found = connection.read_parquet(str(path)).count("*").fetchone()
    return int(found[0]) if found else 0


def _cut_at(request: QueryRequest) -> End:
    """Return the end of a result with more rows than it may have. Raises QueryError."""
    if request.cuts_rows:
        return End(truncated=True)
    raise QueryError(reason=f"gives more than {request.max_rows} rows", limit="rows")


def _rows_of(result: duckdb.DuckDBPyConnection) -> Iterator[Sequence[object]]:
    while rows := result.fetchmany(_ROWS_AT_ONCE):
        yield from rows


def _path_of(request: QueryRequest) -> Path | None:
    return None if request.parquet is None else Path(request.parquet)


def _limit_resources(request: QueryRequest) -> None:
    """Set the operating system's resource limits of this process."""
    seconds = int(request.time_limit_s) + _GRACE_S
    signal.alarm(seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    longest = _longest_file(request)
    resource.setrlimit(resource.RLIMIT_FSIZE, (longest, longest))
    most = _address_space() + request.memory_mb * _MB
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _longest_file(request: QueryRequest) -> int:
    if request.parquet is None:
        return _MOST_FILE_BYTES
    if request.max_file_bytes is None:
        return resource.RLIM_INFINITY
    return request.max_file_bytes


def _address_space() -> int:
    """Return the bytes of address space in use; 0 if the system does not report them."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def _failure_of(error: Exception, request: QueryRequest) -> Failure:
    text = str(error)
    is_memory = isinstance(error, (MemoryError, duckdb.OutOfMemoryException))
    # SQLite and other libraries word it differently.
    if is_memory or any(word in text.lower() for word in _NO_MEMORY):
        reason = f"needs more memory than {request.memory_mb} MB: {text}"
        return Failure(error=reason, is_query=True, limit="memory")
    if _TOO_LARGE in text:
        reason = f"gives more than {request.max_file_bytes} bytes"
        return Failure(error=reason, is_query=True, limit="bytes")
    is_store = isinstance(error, (duckdb.FatalException, duckdb.IOException))
    return Failure(error=text, is_query=not is_store)


def _tell(line: AnswerLine) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
    if not isinstance(line, ResultRow):
        sys.stdout.buffer.flush()
