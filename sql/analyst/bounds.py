"""Limits and result of an analyst's statement."""

import msgspec


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one statement."""

    max_rows: int | None = 1_000
    """None: no bound."""
    cuts_rows: bool = True
    """True: the result is truncated. False: more rows are an error."""
    time_limit_s: float = 30.0
    """Time limit from the moment its process is ready."""
    memory_mb: int = 1_500
    """Address space in addition to that of the process at its start."""
    max_bytes: int | None = 33_554_432
    """Limit of the whole result, as sent or as Parquet. None: no bound."""


class QueryResult(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a statement."""

    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]
    """JSON-compatible values: integers beyond 64 bits, times and decimals are text; bytes are 0x
    text."""
    truncated: bool
    """True if there were more rows than `max_rows`."""
