"""Marks that tie the SQLite files of one store together.

A mark is SQLite's application id, derived from the id of the store. That of the serving state also
notes which other files there have been, so that a vanished one is noticed.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from core.errors import StoreError
from sql.engine.sqlite_file import SqliteFile
from sql.engine.store_files import StoreFiles

_HAS_LEDGER: Final = 1
_HAS_LAKE: Final = 2
_FLAGS: Final = _HAS_LEDGER | _HAS_LAKE
_MARK_BITS: Final = 31
"""An application id is a signed number of 32 bits."""


def tie_files(
    serving: SqliteFile, ledger: SqliteFile, files: StoreFiles, *, store_id: str, has_keys: bool
) -> None:
    """Check that the files of a store are there and belong together, and mark them.

    `has_keys`: there is a key in the ledger, so it was made on purpose. Raises StoreError.
    """
    own, known = _mark_of(store_id), serving.mark
    is_new = ledger.mark == 0
    if not is_new and ledger.mark != own:
        reason = f"this ledger is of another store than {files.serving.name}"
        raise StoreError(path=str(ledger.path), reason=reason)
    if is_new and known & _HAS_LEDGER and not has_keys:
        reason = (
            "the ledger of this store has vanished, and its keys with it. Put it back; or make a "
            "key with `assay keys create` to begin a new one"
        )
        raise StoreError(path=str(ledger.path), reason=reason)
    check_lake_is_there(files, known)
    if is_new:
        ledger.set_mark(own)
    flags = _HAS_LEDGER | (_HAS_LAKE if files.lake.exists() else 0)
    if known != own | flags:
        serving.set_mark(own | flags)


def check_files_are_there(files: StoreFiles, ledger: Path) -> None:
    """Check that no file is missing that the store has had. Raises StoreError."""
    known = _read_mark(files.serving)
    if known & _HAS_LEDGER and not ledger.exists():
        raise StoreError(path=str(ledger), reason="the ledger of this store has vanished")
    check_lake_is_there(files, known)


def check_lake_is_there(files: StoreFiles, known: int) -> None:
    """Check that the lake has not vanished. `known`: mark of the serving state. Raises
    StoreError."""
    if known & _HAS_LAKE and not files.lake.exists():
        raise StoreError(path=str(files.lake), reason="the lake of this store has vanished")
    if files.lake.exists() and not files.lake_data.is_dir():
        raise StoreError(path=str(files.lake_data), reason="the lake's folder has vanished")


def _mark_of(store_id: str) -> int:
    """Return the mark of a store without flags; never 0."""
    return (int(store_id[:8], 16) & (2**_MARK_BITS - 1) & ~_FLAGS) or _FLAGS + 1


def _read_mark(serving: Path) -> int:
    try:
        with closing(sqlite3.connect(f"{serving.absolute().as_uri()}?mode=ro", uri=True)) as file:
            return int(file.execute("pragma application_id").fetchone()[0])
    except sqlite3.Error as error:
        raise StoreError(path=str(serving), reason=str(error)) from error
