"""Statements and migrations as they lie on disk: one statement a file, one migration a file."""

import re
from functools import cache
from pathlib import Path

import msgspec

HERE = Path(__file__).parent
QUERIES = HERE / "queries"
SCHEMA = HERE / "schema"
LEDGER_QUERIES = HERE / "ledger_queries"
LEDGER_SCHEMA = HERE / "ledger_schema"

_MIGRATION_NAME = re.compile(r"(\d{3})_[a-z_]+")


class Migration(msgspec.Struct, frozen=True, kw_only=True):
    """One numbered step from an empty file to the newest schema."""

    version: int
    name: str
    text: str
    """Several statements."""


@cache
def load_statement(query: str, folder: Path = QUERIES) -> str:
    """The text of `area/verb_noun`. Raises FileNotFoundError: a misspelt name is a bug."""
    return (folder / f"{query}.sql").read_text(encoding="utf-8")


def list_statements(folder: Path = QUERIES) -> list[str]:
    """Every statement there is, as `area/verb_noun`, in order of name."""
    return sorted(
        path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.sql")
    )


@cache
def load_migrations(folder: Path = SCHEMA) -> tuple[Migration, ...]:
    """All migrations, numbered 1, 2, 3 and so on without a gap. Raises ValueError otherwise."""
    migrations = []
    for expected, path in enumerate(sorted(folder.glob("*.sql")), start=1):
        match = _MIGRATION_NAME.fullmatch(path.stem)
        if match is None or int(match[1]) != expected:
            message = f"{path}: migration number {expected:03} was to come here"
            raise ValueError(message)
        text = path.read_text(encoding="utf-8")
        migrations.append(Migration(version=expected, name=path.stem, text=text))
    return tuple(migrations)
