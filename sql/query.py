"""Execution of one ad-hoc SELECT, bounded in time and rows, without write or file access."""

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import duckdb
import msgspec

from core.errors import QueryError
from sql.store import Store

_ZONED = "WITH TIME ZONE"
_LARGEST_JSON_INT = 2**63


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one statement."""

    max_rows: int = 1_000
    time_limit_s: float = 30.0


class QueryResult(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a statement."""

    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]
    """JSON-compatible values: integers beyond 64 bits, times and decimals are text; bytes are 0x
    text."""
    truncated: bool
    """True if there were more rows than `max_rows`."""


def run_query(store: Store, sql: str, bounds: Bounds) -> QueryResult:
    """Run one SELECT. Raises QueryError for faults of the statement, else StoreError."""
    with store.cursor() as cursor, _translated(bounds):
        statement = _only_select(cursor, sql)
        with _interrupted_after(cursor, bounds.time_limit_s):
            result = cursor.execute(statement)
            columns = tuple(column[0] for column in result.description or ())
            rows = _take(result, bounds.max_rows + 1)
    return QueryResult(
        columns=columns,
        rows=[tuple(_plain(value) for value in row) for row in rows[: bounds.max_rows]],
        truncated=len(rows) > bounds.max_rows,
    )


def _only_select(cursor: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    statements = cursor.extract_statements(sql)
    if len(statements) != 1:
        raise QueryError(reason=f"one statement at a time; there are {len(statements)}")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise QueryError(reason="only SELECT can be run here")
    return statements[0]


@contextmanager
def _interrupted_after(cursor: duckdb.DuckDBPyConnection, time_limit_s: float) -> Iterator[None]:
    lock = threading.Lock()
    is_over = False

    def interrupt() -> None:
        # The cursor returns to a pool: a timer that fires late must not interrupt its next user.
        with lock:
            if not is_over:
                cursor.interrupt()

    timer = threading.Timer(time_limit_s, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with lock:
            is_over = True


@contextmanager
def _translated(bounds: Bounds) -> Iterator[None]:
    try:
        yield
    except duckdb.InterruptException as error:
        reason = f"took longer than {bounds.time_limit_s:g} s"
        raise QueryError(reason=reason) from error
    except (duckdb.FatalException, duckdb.IOException):
        raise  # a fault of the store, not of the statement
    except duckdb.Error as error:
        raise QueryError(reason=str(error)) from error


def _take(result: duckdb.DuckDBPyConnection, at_most: int) -> Sequence[tuple[object, ...]]:
    if not any(_ZONED in str(column[1]) for column in result.description or ()):
        return result.fetchmany(at_most)
    # DuckDB needs pytz to return times with a zone as Python values; Arrow does not.
    rows: list[tuple[object, ...]] = []
    for batch in result.to_arrow_reader(at_most):
        rows += zip(*(column.to_pylist() for column in batch.columns), strict=True)
        if len(rows) >= at_most:
            break
    return rows[:at_most]


def _plain(value: object) -> object:
    """Convert a value to one that JSON carries unchanged, so that local and remote queries
    agree."""
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
        plain = [_plain(item) for item in value]
    elif isinstance(value, dict):
        plain = {str(key): _plain(item) for key, item in value.items()}
    return plain
