"""The serving state of a store: one SQLite file of what is looked up one by one.

Reads run at the same time from any thread, one write transaction at a time. SQL statements are
loaded by name. All calls block; asynchronous callers use `asyncio.to_thread`.
"""

import tempfile
import threading
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from core.errors import StoreError
from sql.sqlite_file import FileLayout, Reader, SqliteFile, Transaction
from sql.statements import QUERIES, SCHEMA
from sql.store_files import StoreFiles

T = TypeVar("T", bound=msgspec.Struct)

MEMORY = Path(":memory:")
"""A store that is gone once it is closed."""

SERVING_LAYOUT = FileLayout(
    schema=SCHEMA, queries=QUERIES, synchronous="normal", commits_checkpoint=False, cache_mb=8
)

_CHECKPOINT_EVERY_S = 1.0
_LONGEST_LOG_BYTES = 256 << 20
"""A log that readers have kept from being reused is cut above this."""


class Store:
    """One open store. Thread-safe; other processes may read and write it, too."""

    def __init__(self, path: Path, file: SqliteFile) -> None:
        self.path = path
        self._file = file
        self._is_closing = threading.Event()
        self._checkpointer = threading.Thread(
            target=self._keep_checkpointing, name="checkpoint", daemon=True
        )
        self._checkpointer.start()

    @classmethod
    def open(cls, path: Path, *, must_exist: bool = False) -> "Store":
        """Open the store at a path, creating its files if needed, and migrate it to the newest
        schema.

        `:memory:` keeps nothing. `must_exist`: create nothing. Raises StoreError.
        """
        if path == MEMORY:
            return _TemporaryStore()
        if must_exist and not StoreFiles(prefix=path).serving.exists():
            raise StoreError(path=str(path), reason="there is no such store")
        return cls(path, SqliteFile(StoreFiles(prefix=path).serving, SERVING_LAYOUT))

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """Return all rows of statement `area/verb_noun` as structs. Raises StoreError."""
        return self._file.fetch(query, row, **params)

    def fetch_one(self, query: str, row: type[T], /, **params: object) -> T | None:
        """Return the first row, or None when there is none. Raises StoreError."""
        found = self._file.fetch(query, row, **params)
        return found[0] if found else None

    def fetch_tuples(self, query: str, /, **params: object) -> list[tuple[Any, ...]]:
        """Return all rows as they are stored: blobs as bytes. Raises StoreError."""
        return self._file.fetch_tuples(query, **params)

    def snapshot(self) -> AbstractContextManager[Reader]:
        """Yield a reader whose reads all see the same state. Raises StoreError."""
        return self._file.snapshot()

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Yield a write transaction: committed at the end of the block, rolled back on any
        exception.

        Waits for the writer before it. Raises StoreError when the commit fails, when another
        process holds the file for too long, and when this thread is in a transaction already.
        """
        return self._file.transaction()

    def close(self) -> None:
        """Wait for a running transaction to end, then close the files. A second call does
        nothing."""
        self._is_closing.set()
        self._checkpointer.join()
        self._file.close()

    def _keep_checkpointing(self) -> None:
        """Move the write-ahead log into the file now and then, so that no commit has to."""
        while not self._is_closing.wait(_CHECKPOINT_EVERY_S):
            # A full disk, or a reader that stays: the next turn tries again.
            with suppress(StoreError):
                self._file.checkpoint(truncate_above_bytes=_LONGEST_LOG_BYTES)


class _TemporaryStore(Store):
    """A store in a folder of its own, which goes with it."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="assay-")
        path = Path(self._folder.name) / "store"
        super().__init__(path, SqliteFile(StoreFiles(prefix=path).serving, SERVING_LAYOUT))

    def close(self) -> None:
        super().close()
        self._folder.cleanup()


Readable = Store | Reader
"""Anything a read can run on: the store, a snapshot of it, or an open transaction."""
