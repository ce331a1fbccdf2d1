"""Consistent copy of a SQLite file that is being written."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from core.errors import StoreError

_PAGES = 2_048
"""Pages copied between two calls of `progress`: 8 MB."""


def copy_sqlite(
    source: Path, target: Path, *, progress: Callable[[int, int], None] = lambda *_: None
) -> None:
    """Copy one state of a file, and check the copy. Writers go on.

    `progress` receives copied and total bytes. A read transaction pins the copied state: without
    it the copy would restart with every commit of another process. Raises StoreError.
    """
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with (
            closing(sqlite3.connect(f"file:{_quoted(source)}?mode=rw", uri=True)) as reader,
            closing(sqlite3.connect(target)) as writer,
        ):
            page_bytes = int(reader.execute("pragma page_size").fetchone()[0])
            reader.execute("begin")
            reader.execute("select count(*) from sqlite_schema").fetchone()
            reader.backup(
                writer,
                pages=_PAGES,
                progress=lambda _, left, total: progress(
                    (total - left) * page_bytes, total * page_bytes
                ),
                sleep=0,
            )
            # As one file, without a write-ahead log.
            writer.execute("pragma journal_mode = delete")
            found = writer.execute("pragma quick_check(1)").fetchone()[0]
    except (sqlite3.Error, OSError) as error:
        raise StoreError(path=str(source), reason=str(error)) from error
    if found != "ok":
        raise StoreError(path=str(source), reason=f"is damaged: {found}")


def _quoted(path: Path) -> str:
    return str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
