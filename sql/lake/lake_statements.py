"""Loader of the lake's SQL: schema, layout and statements."""

from functools import cache
from pathlib import Path

from sql.engine.statements import (
    Engine,
    Migration,
    load_migrations,
    load_postgres_statement,
    load_statement,
)

_HERE = Path(__file__).parent
LAKE_QUERIES = _HERE / "lake.sql"
LAKE_SCANS = _HERE / "scans.sql"
LAKE_SCHEMA = _HERE / "schema"


def load_lake_migrations() -> tuple[Migration, ...]:
    """Return the migrations of the lake's schema, oldest first."""
    return load_migrations(LAKE_SCHEMA)


@cache
def load_lake_statement(query: str) -> str:
    """Return the text of `verb_noun`. Raises LookupError for an unknown name."""
    return load_statement(query, LAKE_QUERIES)


def scan_text(name: str, engine: Engine, /, **numbers: int) -> str:
    """Return a statement for the serving state's engine, with its numbers filled in.

    DuckDB passes it on as text, so it can have no parameters.
    """
    load = load_statement if engine == "sqlite" else load_postgres_statement
    text = load(name, LAKE_SCANS)
    return text.format(**{key: int(value) for key, value in numbers.items()})


@cache
def load_layout() -> str:
    """Return the script that partitions and sorts the tables of a new lake."""
    return (_HERE / "layout.sql").read_text(encoding="utf-8")


@cache
def load_options() -> str:
    """Return the script with the file options of a new lake."""
    return (_HERE / "options.sql").read_text(encoding="utf-8")
