"""What a query process is asked, and the lines of JSON that it answers."""

from typing import Literal

import msgspec

from core.errors import QueryLimit

ResultForm = Literal["rows", "arrow"]
"""rows: JSON values a row. arrow: parts of an Arrow stream, with DuckDB's own types."""


class QueryRequest(msgspec.Struct, frozen=True, kw_only=True):
    """All that a query process is told."""

    prefix: str
    """Path that names the store; see StoreFiles."""
    sql: str
    form: ResultForm = "rows"
    max_rows: int | None
    """None: no bound."""
    cuts_rows: bool
    time_limit_s: float
    memory_mb: int


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag="ready"):
    """The store is open: from now on the time counts as the statement's."""


class ColumnNames(msgspec.Struct, frozen=True, kw_only=True, tag="columns"):
    """Names of the columns, once."""

    columns: tuple[str, ...]


class ResultRow(msgspec.Struct, frozen=True, kw_only=True, tag="row"):
    """One row; in order."""

    row: tuple[object, ...]


class ArrowSchema(msgspec.Struct, frozen=True, kw_only=True, tag="schema"):
    """Names and types of the columns, once, as an Arrow message."""

    schema: bytes


class ArrowBatch(msgspec.Struct, frozen=True, kw_only=True, tag="batch"):
    """Some rows as an Arrow message; in order."""

    batch: bytes


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


AnswerLine = Ready | ColumnNames | ResultRow | ArrowSchema | ArrowBatch | End | Failure
