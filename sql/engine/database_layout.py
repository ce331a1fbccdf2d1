"""Layout of the tables of one kind in a PostgreSQL database."""

from pathlib import Path

import msgspec

from sql.engine.statements import Queries


class DatabaseLayout(msgspec.Struct, frozen=True, kw_only=True):
    """Tables of one kind, their statements and their writers' locks."""

    schema: Path
    """Folder of numbered migrations."""
    queries: Queries
    """Home of the statements that run on it."""
    versions: str
    """Table of the applied migrations."""
    lock_table: str
    """Table that an exclusive transaction locks."""
