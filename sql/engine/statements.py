"""Loader of SQL statements and migrations from disk, one per file."""

import re
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

HERE = Path(__file__).parents[1]
QUERIES = HERE / "queries"
SCHEMA = HERE / "schema"
POSTGRES_SCHEMA = HERE / "engine" / "postgres" / "schema"
LEDGER_QUERIES = HERE / "ledger_queries"
LEDGER_SCHEMA = HERE / "ledger_schema"
POSTGRES_LEDGER_SCHEMA = HERE / "engine" / "postgres" / "ledger_schema"

Engine = Literal["sqlite", "postgres"]
"""What holds the serving state."""

_POSTGRES_SUFFIX = ".postgres.sql"
_MIGRATION_NAME = re.compile(r"(\d{3})_[a-z_]+")


class Migration(msgspec.Struct, frozen=True, kw_only=True):
    """One numbered schema migration."""

    version: int
    name: str
    text: str
    """SQL script of one or more statements."""


@cache
def load_statement(query: str, folder: Path = QUERIES) -> str:
    """Return the text of `area/verb_noun` for SQLite. Raises FileNotFoundError: a misspelt name is
    a bug."""
    return (folder / f"{query}.sql").read_text(encoding="utf-8")


def load_postgres_statement(query: str, folder: Path = QUERIES) -> str:
    """Return the text of `area/verb_noun` for PostgreSQL: its own where there is one beside
    SQLite's, else the same. Parameters are written as for SQLite. Raises FileNotFoundError."""
    own = folder / f"{query}{_POSTGRES_SUFFIX}"
    return own.read_text(encoding="utf-8") if own.exists() else load_statement(query, folder)


def list_statements(folder: Path = QUERIES) -> list[str]:
    """Return all statement names as `area/verb_noun`, sorted."""
    return sorted(
        path.relative_to(folder).with_suffix("").as_posix()
        for path in folder.rglob("*.sql")
        if not path.name.endswith(_POSTGRES_SUFFIX)
    )


def list_postgres_statements(folder: Path = QUERIES) -> list[str]:
    """Return the names of the statements that PostgreSQL takes a text of its own for, sorted."""
    return sorted(
        path.relative_to(folder).as_posix().removesuffix(_POSTGRES_SUFFIX)
        for path in folder.rglob(f"*{_POSTGRES_SUFFIX}")
    )


@cache
def load_migrations(folder: Path = SCHEMA) -> tuple[Migration, ...]:
    """Return all migrations, numbered 1, 2, 3 and so on without a gap. Raises ValueError
    otherwise."""
    migrations = []
    for expected, path in enumerate(sorted(folder.glob("*.sql")), start=1):
        match = _MIGRATION_NAME.fullmatch(path.stem)
        if match is None or int(match[1]) != expected:
            message = f"{path}: migration number {expected:03} was to come here"
            raise ValueError(message)
        text = path.read_text(encoding="utf-8")
        migrations.append(Migration(version=expected, name=path.stem, text=text))
    return tuple(migrations)
