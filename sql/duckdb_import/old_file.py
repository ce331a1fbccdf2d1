"""Tells a DuckDB file from others, without DuckDB: every start of a command asks."""

from pathlib import Path
from typing import Final

_MAGIC_AT: Final = 8
_MAGIC: Final = b"DUCK"


def is_old_store(path: Path) -> bool:
    """True if there is a DuckDB file at the path."""
    try:
        with path.open("rb") as file:
            return file.read(_MAGIC_AT + len(_MAGIC))[_MAGIC_AT:] == _MAGIC
    except OSError:
        return False
