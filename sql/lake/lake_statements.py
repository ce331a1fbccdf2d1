"""Loader of the lake's SQL: schema, layout and statements, one statement a file."""

from functools import cache
from pathlib import Path

from sql.statements import Migration, load_migrations, load_statement

_HERE = Path(__file__).parent
LAKE_QUERIES = _HERE / "queries"
LAKE_SCHEMA = _HERE / "schema"


def load_lake_migrations() -> tuple[Migration, ...]:
    """Return the steps of the lake's schema, oldest first."""
    return load_migrations(LAKE_SCHEMA)


def load_lake_statement(query: str) -> str:
    """Return the text of `verb_noun`. Raises FileNotFoundError: a misspelt name is a bug."""
    return load_statement(query, LAKE_QUERIES)


@cache
def _load_scan(name: str) -> str:
    return (_HERE / "scans" / f"{name}.sql").read_text(encoding="utf-8")


def scan_text(name: str, **numbers: int) -> str:
    """Return a statement for SQLite with its numbers filled in.

    DuckDB hands it over as text, so it can have no parameters.
    """
    return _load_scan(name).format(**{key: int(value) for key, value in numbers.items()})


@cache
def load_layout() -> str:
    """Return the script that partitions and sorts the tables of a new lake."""
    return (_HERE / "layout.sql").read_text(encoding="utf-8")


@cache
def load_options() -> str:
    """Return the script that says how files of a new lake are written."""
    return (_HERE / "options.sql").read_text(encoding="utf-8")
