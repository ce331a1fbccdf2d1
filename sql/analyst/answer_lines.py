"""Messages between `query_runner` and its child process, as lines of JSON."""

from pathlib import Path

import msgspec

from core.errors import QueryLimit
from sql.lake.find_place import StoreMessage


class QueryRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Request to a query process."""

    store: StoreMessage
    sql: str
    parquet: str | None = None
    """Absolute path of the Parquet file for the rows, with DuckDB's types. None: they are sent as
    JSON values."""
    max_rows: int | None
    """None: no bound."""
    cuts_rows: bool
    time_limit_s: float
    memory_mb: int
    max_file_bytes: int | None = None
    """Longest Parquet file. None: no bound."""


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag="ready"):
    """The store is open, and the statement's time limit begins."""


class ColumnNames(msgspec.Struct, frozen=True, kw_only=True, tag="columns"):
    """Names of the columns, sent once."""

    columns: tuple[str, ...]


class ResultRow(msgspec.Struct, frozen=True, kw_only=True, tag="row"):
    """One row, in order."""

    row: tuple[object, ...]


class End(msgspec.Struct, frozen=True, kw_only=True, tag="end"):
    """The result is complete."""

    truncated: bool


class Failure(msgspec.Struct, frozen=True, kw_only=True, tag="failure"):
    """There is no result."""

    error: str
    is_query: bool
    """True: an error of the statement, not of the store."""
    limit: QueryLimit | None = None
    """The limit that was exceeded. None: no limit was."""


def first_rows(parquet: Path) -> Path:
    """Return the path of the first rows of a Parquet file with too many."""
    return parquet.with_name(f"{parquet.name}.first")


AnswerLine = Ready | ColumnNames | ResultRow | End | Failure
