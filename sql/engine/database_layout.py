"""What is kept of a kind in a PostgreSQL database."""

from pathlib import Path

import msgspec

from sql.engine.statements import Queries


class DatabaseLayout(msgspec.Struct, frozen=True, kw_only=True):
    """Tables of one kind in a PostgreSQL database, and how they are written."""

    schema: Path
    """Folder of numbered migrations."""
    queries: Queries
    """Home of the statements that run on it."""
    versions: str
    """Table of the migrations that have been made."""
    turns: str
    """Table that a transaction locks which runs alone."""
