"""What a query process is asked, and the lines of JSON that it answers."""

from pathlib import Path

import msgspec

from core.errors import QueryLimit
from sql.lake.find_place import StoreMessage


class QueryRequest(msgspec.Struct, frozen=True, kw_only=True):
    """All that a query process is told."""

    store: StoreMessage
    sql: str
    parquet: str | None = None
    """Absolute path of the file that gets the rows, with DuckDB's own types. None: they are sent as
    JSON values."""
    max_rows: int | None
    """None: no bound."""
    cuts_rows: bool
    time_limit_s: float
    memory_mb: int
    max_file_bytes: int | None = None
    """Longest Parquet file. None: no bound."""


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag="ready"):
    """The store is open: from now on the time counts as the statement's."""


class ColumnNames(msgspec.Struct, frozen=True, kw_only=True, tag="columns"):
    """Names of the columns, once."""

    columns: tuple[str, ...]


class ResultRow(msgspec.Struct, frozen=True, kw_only=True, tag="row"):
    """One row; in order."""

    row: tuple[object, ...]


class End(msgspec.Struct, frozen=True, kw_only=True, tag="end"):
    """The result is complete."""

    truncated: bool


class Failure(msgspec.Struct, frozen=True, kw_only=True, tag="failure"):
    """There is no result."""

    error: str
    is_query: bool
    """True: the statement was at fault, not the store."""
    limit: QueryLimit | None = None
    """The bound it met. None: none."""


def first_rows(parquet: Path) -> Path:
    """Return where a query process writes what is left of a file with too many rows."""
    return parquet.with_name(f"{parquet.name}.first")


AnswerLine = Ready | ColumnNames | ResultRow | End | Failure
