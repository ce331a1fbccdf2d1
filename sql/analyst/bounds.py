"""What one statement of an analyst may take, and what it gives."""

import msgspec


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one statement."""

    max_rows: int | None = 1_000
    """None: no bound."""
    cuts_rows: bool = True
    """True: of more rows the first are given. False: more rows are an error."""
    time_limit_s: float = 30.0
    """Once its process is ready."""
    memory_mb: int = 1_500
    """Address space beyond what its process starts with."""
    max_bytes: int | None = 33_554_432
    """Of the whole result, as its process sends it or as Parquet. None: no bound."""


class QueryResult(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a statement."""

    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]
    """JSON-compatible values: integers beyond 64 bits, times and decimals are text; bytes are 0x
    text."""
    truncated: bool
    """True if there were more rows than `max_rows`."""
