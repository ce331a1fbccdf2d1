"""Serving state of a store: the rows of single look-ups, by default in one SQLite file.

Reads run concurrently from any thread; write transactions of one chain, one at a time. SQL
statements are loaded by name. All calls block; asynchronous callers use `asyncio.to_thread`.
"""

import tempfile
import threading
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from config.store_address import FileAddress, PostgresAddress, StoreAddress
from core.errors import StoreError
from sql.engine.database import Database, Reader, Transaction
from sql.engine.database_layout import DatabaseLayout
from sql.engine.fleet_database import connect, make_local_folder
from sql.engine.sqlite_file import FileLayout, SqliteFile
from sql.engine.statements import POSTGRES_SCHEMA, QUERIES, SCHEMA
from sql.engine.store_files import StoreFiles
from sql.engine.store_marks import check_lake_is_there

T = TypeVar("T", bound=msgspec.Struct)

MEMORY = Path(":memory:")
"""Path of a store that is deleted when it is closed."""

NO_CHAIN = 0
"""In place of a chain's id: a transaction whose rows belong to no chain."""

SERVING_LAYOUT = FileLayout(
    schema=SCHEMA, queries=QUERIES, synchronous="normal", commits_checkpoint=False, cache_mb=8
)
SERVING = DatabaseLayout(
    schema=POSTGRES_SCHEMA, queries=QUERIES, versions="schema_version", lock_table="chain_writer"
)

_CHECKPOINT_EVERY_S = 1.0
_LONGEST_LOG_BYTES = 256 << 20
"""Size above which a write-ahead log that readers kept growing is truncated."""


class Store:
    """One open store. Thread-safe; other processes may read and write it, too."""

    def __init__(self, address: StoreAddress, database: Database) -> None:
        self.address = address
        self._database = database

    @property
    def path(self) -> Path:
        """Return the prefix of this machine's files of the store."""
        return self.address.prefix

    @classmethod
    def open(cls, at: StoreAddress | Path, *, must_exist: bool = False) -> "Store":
        """Open the store at an address, creating it if needed, and migrate it to the newest schema.

        A path is that of a store in files; `:memory:` keeps nothing. `must_exist`: create nothing.
        Raises StoreError, and MissingExtraError if the driver of PostgreSQL is missing.
        """
        if at == MEMORY:
            return _TemporaryStore()
        address = FileAddress(at) if isinstance(at, Path) else at
        if isinstance(address, PostgresAddress):
            make_local_folder(address)
            return cls(address, connect(address, SERVING, must_exist=must_exist))
        if must_exist and not StoreFiles(prefix=address.path).serving.exists():
            raise StoreError(path=str(address.path), reason="there is no such store")
        return FileStore(address.path)

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """Return all rows of the statement `area/verb_noun` as structs. Raises StoreError."""
        return self._database.fetch(query, row, **params)

    def fetch_one(self, query: str, row: type[T], /, **params: object) -> T | None:
        """Return the first row, or None when there is none. Raises StoreError."""
        found = self._database.fetch(query, row, **params)
        return found[0] if found else None

    def fetch_tuples(self, query: str, /, **params: object) -> list[tuple[Any, ...]]:
        """Return all rows as they are stored: blobs as bytes. Raises StoreError."""
        return self._database.fetch_tuples(query, **params)

    def snapshot(self) -> AbstractContextManager[Reader]:
        """Yield a reader whose reads all see the same state. Raises StoreError."""
        return self._database.snapshot()

    def transaction(self, *, chain_id: int | None = None) -> AbstractContextManager[Transaction]:
        """Yield a write transaction: committed at the end of the block, rolled back on any
        exception.

        `chain_id`: it writes rows of this chain only, so writers of other chains need not wait for
        it. None: it runs alone. Raises StoreError when the commit fails, when another process
        writes for too long, and when this thread is in a transaction already.
        """
        return self._database.transaction(chain_id=chain_id)

    def check_present(self) -> None:
        """Check that the files are still in their places. Raises StoreError."""

    def close(self) -> None:
        """Wait for a running transaction to end, then close the store. A second call does
        nothing."""
        self._database.close()


class FileStore(Store):
    """A store whose serving state is one SQLite file."""

    def __init__(self, path: Path) -> None:
        self.file = SqliteFile(StoreFiles(prefix=path).serving, SERVING_LAYOUT)
        super().__init__(FileAddress(path), self.file)
        self._is_closing = threading.Event()
        self._checkpointer = threading.Thread(
            target=self._keep_checkpointing, name="checkpoint", daemon=True
        )
        self._checkpointer.start()

    def read_id(self) -> str:
        """Return the store's random id. Raises StoreError."""
        (found,) = self.file.fetch_tuples("status/find_store_id")
        return str(found[0])

    def check_present(self) -> None:
        """Check that the files are still in their places. Raises StoreError."""
        self.file.check_present()
        check_lake_is_there(StoreFiles(prefix=self.path), self.file.mark)

    def close(self) -> None:
        """Wait for a running transaction to end, then close the files. A second call does
        nothing."""
        self._is_closing.set()
        self._checkpointer.join()
        super().close()

    def _keep_checkpointing(self) -> None:
        """Move the write-ahead log into the file periodically, so that no commit has to."""
        while not self._is_closing.wait(_CHECKPOINT_EVERY_S):
            # A full disk, or a long read: the next round tries again.
            with suppress(StoreError):
                self.file.checkpoint(truncate_above_bytes=_LONGEST_LOG_BYTES)


class _TemporaryStore(FileStore):
    """A store in a temporary folder."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="assay-")
        super().__init__(Path(self._folder.name) / "store")

    def close(self) -> None:
        super().close()
        self._folder.cleanup()


Readable = Store | Reader
"""Anything a read can run on: the store, a snapshot of it, or an open transaction."""
