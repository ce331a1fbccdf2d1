"""Loader of SQL statements and migrations.

A `.sql` file holds the statements of one subject as named blocks, as aiosql has them:

    -- name: find_watch
    -- One row per watch with this id.
    select ...

A block `-- name: find_watch postgres` is PostgreSQL's text of the statement before it.
"""

import re
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

_SQL = Path(__file__).parents[1]
SCHEMA = _SQL / "engine" / "schema"
POSTGRES_SCHEMA = _SQL / "engine" / "postgres" / "schema"

Engine = Literal["sqlite", "postgres"]
"""Database engine of the serving state."""

Queries = Path | tuple[Path, ...]
"""Location of statements: a file, whose statements are named `verb_noun`; or folders, whose
statements are named `area/verb_noun` by the file `area.sql`."""

QUERIES: Queries = tuple(
    _SQL / subject for subject in ("chain", "jobs", "reports", "tokens", "watches")
)

_BLOCK = re.compile(r"^-- name: *(.*)\n", re.MULTILINE)
_BLOCK_NAME = re.compile(r"([a-z][a-z0-9_]*)( postgres)?")
_MIGRATION_NAME = re.compile(r"(\d{3})_[a-z_]+")


class Migration(msgspec.Struct, frozen=True, kw_only=True):
    """One numbered schema migration."""

    version: int
    name: str
    text: str
    """SQL script of one or more statements."""


@cache
def load_statement(query: str, queries: Queries = QUERIES) -> str:
    """Return a statement's text for SQLite. Raises LookupError for an unknown name."""
    texts = _texts_of(queries)
    if query not in texts:
        message = f"there is no SQL statement {query!r} in {_shown(queries)}"
        raise LookupError(message)
    return texts[query]


def load_postgres_statement(query: str, queries: Queries = QUERIES) -> str:
    """Return a statement's text for PostgreSQL: its own block if it has one, else SQLite's.

    Parameters are written as for SQLite. Raises LookupError for an unknown name.
    """
    return _texts_of(queries).get(f"{query} postgres") or load_statement(query, queries)


def list_statements(queries: Queries = QUERIES) -> list[str]:
    """Return the names of all statements, sorted."""
    return sorted(name for name in _texts_of(queries) if " " not in name)


def list_postgres_statements(queries: Queries = QUERIES) -> list[str]:
    """Return the names of the statements with a separate text for PostgreSQL, sorted."""
    return sorted(name.split()[0] for name in _texts_of(queries) if " " in name)


@cache
def load_migrations(folder: Path = SCHEMA) -> tuple[Migration, ...]:
    """Return all migrations, numbered from 1 without a gap. Raises ValueError otherwise."""
    migrations = []
    for expected, path in enumerate(sorted(folder.glob("*.sql")), start=1):
        match = _MIGRATION_NAME.fullmatch(path.stem)
        if match is None or int(match[1]) != expected:
            message = f"{path}: expected migration number {expected:03}"
            raise ValueError(message)
        text = path.read_text(encoding="utf-8")
        migrations.append(Migration(version=expected, name=path.stem, text=text))
    return tuple(migrations)


@cache
def _texts_of(queries: Queries) -> dict[str, str]:
    """Return the texts of all blocks by name, PostgreSQL's with ` postgres` after the name."""
    if isinstance(queries, Path):
        return _split(queries)
    texts: dict[str, str] = {}
    for path in (path for folder in queries for path in sorted(folder.glob("*.sql"))):
        blocks = {f"{path.stem}/{name}": text for name, text in _split(path).items()}
        if not texts.keys().isdisjoint(blocks):
            message = f"{path}: another folder has a file of this name"
            raise ValueError(message)
        texts |= blocks
    return texts


def _split(path: Path) -> dict[str, str]:
    """Return the blocks of one file by name. Raises ValueError for a malformed or a double one."""
    head, *parts = _BLOCK.split(path.read_text(encoding="utf-8"))
    if any(line and not line.startswith("--") for line in head.splitlines()):
        message = f"{path}: a statement without a name"
        raise ValueError(message)
    blocks: dict[str, str] = {}
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        match = _BLOCK_NAME.fullmatch(name)
        follows = match is None or not match[2] or next(reversed(blocks), None) == match[1]
        if match is None or name in blocks or not follows:
            message = f"{path}: block {name!r} is malformed, defined twice or out of place"
            raise ValueError(message)
        blocks[name] = text.rstrip("\n") + "\n"
    return blocks


def _shown(queries: Queries) -> str:
    homes = (queries,) if isinstance(queries, Path) else queries
    return ", ".join(f"{home.parent.name}/{home.name}" for home in homes)
