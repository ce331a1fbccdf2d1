"""Place of a lake and its serving state, and the operations that depend on it."""

import fcntl
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

import msgspec

from config.store_address import FileAddress, StoreAddress
from core.errors import StoreError
from sql.engine.database import Database
from sql.engine.process_lock import hold_lock
from sql.engine.sqlite_file import FileLayout, SqliteFile
from sql.engine.statements import SCHEMA, Engine, Queries
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake.durable import put_on_disk
from sql.lake.extensions import extension_paths, sql_text

_BUSY_MS = 10_000
"""Milliseconds a commit waits for another writer of the catalogue."""

_READER_BUSY_MS = 5_000

_WAIT_S = 30.0
"""Seconds to wait for the write lock of the serving state."""


class StreamingDatabase(Database, Protocol):
    """A database that also streams the rows of a statement."""

    def stream(
        self, query: str, /, *, at_once: int, **params: object
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows as they are stored. Raises StoreError."""


class LakeLock(msgspec.Struct, frozen=True, kw_only=True):
    """Lock or lease under which a process works on a lake alone."""

    fence: str | None = None
    """Text that each commit has to contain, so that it is rejected once another process has taken
    over. None: a lock, which ends with the process."""
    lease: tuple[str, str, int] | None = None
    """Name, holder and token of the lease. None: a lock."""


ALONE = LakeLock()


class LakePlace(ABC):
    """The place of one store."""

    engine: Engine

    def __init__(self, address: StoreAddress) -> None:
        self.address = address
        self.files = StoreFiles(prefix=address.prefix)
        """Files on this machine: the whole store, or locks and spilled sorts."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the name of the lake in errors."""

    @property
    @abstractmethod
    def serving_name(self) -> str:
        """Return the name of the serving state in errors."""

    @abstractmethod
    def masked(self, text: str) -> str:
        """Return a text without the secrets of the place."""

    @abstractmethod
    def list_extensions(self) -> tuple[Path, ...]:
        """Return the files of DuckDB's extensions, in loading order."""

    @abstractmethod
    def list_secrets(self) -> tuple[str, ...]:
        """Return the statements that give DuckDB the keys of an object store."""

    @abstractmethod
    def has_serving(self) -> bool:
        """True if there is a serving state. Raises StoreError."""

    def check_serving(self) -> None:
        """Raise StoreError if there is no serving state."""
        if not self.has_serving():
            raise StoreError(path=self.serving_name, reason="there is no such file")

    @abstractmethod
    def has_lake(self) -> bool:
        """True if there is a lake. Raises StoreError."""

    @abstractmethod
    def prepare(self) -> None:
        """Create the folder and schema of a new lake. Raises StoreError, OSError."""

    @abstractmethod
    def protect(self) -> None:
        """Make the lake's catalogue reject commits without a lease. Raises StoreError."""

    @abstractmethod
    def read_serving_id(self) -> str | None:
        """Return the id of the serving state. None: there is none, or an earlier release wrote it
        last. Raises StoreError."""

    @abstractmethod
    def attach_serving(self) -> str:
        """Return the statement that attaches `serving`, for reading."""

    @abstractmethod
    def attach_lake(self, *, is_read_only: bool) -> str:
        """Return the statement that attaches `lake`."""

    @abstractmethod
    def data_folder(self) -> str:
        """Return the folder of the Parquet files, with a slash at its end."""

    @abstractmethod
    def alone(self) -> AbstractContextManager[LakeLock]:
        """Wait until no other process appends to the lake; yield the lock. Raises StoreError."""

    @abstractmethod
    def compacting(self, *, within_s: float = 0.0) -> AbstractContextManager[LakeLock]:
        """Keep other processes from compacting.

        `within_s`: seconds to wait for one that does. Raises StoreError if it takes longer.
        """

    @abstractmethod
    def put_on_disk(self, names: Iterable[str]) -> None:
        """Sync Parquet files to disk. Raises OSError."""

    @abstractmethod
    def open_batches(self, queries: Queries, lock: LakeLock) -> StreamingDatabase:
        """Open the serving state for other statements. Raises StoreError."""

    @abstractmethod
    def open_store(self, lock: LakeLock) -> Store:
        """Open the serving state for a process that holds the lock. Raises StoreError."""


class FilePlace(LakePlace):
    """A store in files."""

    engine: Engine = "sqlite"

    def __init__(self, address: FileAddress) -> None:
        super().__init__(address)

    @property
    def name(self) -> str:
        """Return the path of the catalogue."""
        return str(self.files.lake)

    @property
    def serving_name(self) -> str:
        """Return the path of the serving state."""
        return str(self.files.serving)

    def masked(self, text: str) -> str:
        """Return the text."""
        return text

    def list_extensions(self) -> tuple[Path, ...]:
        """Return the files of sqlite_scanner and ducklake."""
        return extension_paths()

    def list_secrets(self) -> tuple[str, ...]:
        """Return nothing: files need no keys."""
        return ()

    def has_serving(self) -> bool:
        """True if its file exists."""
        return self.files.serving.exists()

    def has_lake(self) -> bool:
        """True if the catalogue's file exists."""
        return self.files.lake.exists()

    def prepare(self) -> None:
        """Create the folder of the Parquet files. Raises OSError."""
        self.files.lake_data.mkdir(parents=True, exist_ok=True)

    def protect(self) -> None:
        """Do nothing: locks end with their process."""

    def read_serving_id(self) -> str | None:
        """Return the id of the serving state, if its file has one. Raises StoreError."""
        if not self.has_serving():
            return None
        try:
            with closing(sqlite3.connect(self.files.serving)) as connection:
                tables = "select 1 from sqlite_schema where name = 'store_identity'"
                if connection.execute(tables).fetchone() is None:
                    return None
                found = connection.execute("select store_id from store_identity").fetchone()
        except sqlite3.Error as error:
            raise StoreError(path=self.serving_name, reason=str(error)) from error
        return None if found is None else str(found[0])

    def attach_serving(self) -> str:
        """Return the statement that attaches the SQLite file."""
        return (
            f"attach {sql_text(self.files.serving.resolve())} as serving (type sqlite, read_only)"
        )

    def attach_lake(self, *, is_read_only: bool) -> str:
        """Return the statement that attaches the catalogue.

        The catalogue has the folder of its files as of its creation, relative to the working
        directory of that process; a store may be moved, or opened from elsewhere.
        """
        path = self.files.lake.resolve() if is_read_only else self.files.lake
        options = [
            *(["read_only"] if is_read_only else ["meta_journal_mode 'WAL'"]),
            f"data_path {sql_text(self.files.lake_data.resolve())}, override_data_path true",
            f"meta_busy_timeout {_READER_BUSY_MS if is_read_only else _BUSY_MS}",
        ]
        return f"attach {sql_text(f'ducklake:sqlite:{path}')} as lake ({', '.join(options)})"

    def data_folder(self) -> str:
        """Return the folder next to the catalogue."""
        return f"{self.files.lake_data.resolve()}/"

    @contextmanager
    def alone(self) -> Iterator[LakeLock]:
        """Hold the lock of the lake's writers against other processes and threads.

        Blocks until it is free; it ends with its process.
        """
        # Private, because every user who can open the file can hold the lock.
        self.files.lake_lock.touch(mode=0o600, exist_ok=True)
        with self.files.lake_lock.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield ALONE

    @contextmanager
    def compacting(self, *, within_s: float = 0.0) -> Iterator[LakeLock]:
        """Hold the lock for moving, merging and deleting files. Raises StoreError."""
        with hold_lock(
            self.files.compaction_lock,
            store=self.files.prefix,
            doing="is compacting or backing it up",
            within_s=within_s,
        ):
            yield ALONE

    def put_on_disk(self, names: Iterable[str]) -> None:
        """Sync files to disk. Raises OSError."""
        put_on_disk(map(Path, names))

    def open_batches(self, queries: Queries, lock: LakeLock) -> StreamingDatabase:
        """Open the file; a commit here also syncs all earlier ones of other connections.

        Raises StoreError, also if there is no such file.
        """
        del lock
        layout = FileLayout(schema=SCHEMA, queries=queries, synchronous="full")
        return SqliteFile(self.files.serving, layout, wait_s=_WAIT_S, must_exist=True)

    def open_store(self, lock: LakeLock) -> Store:
        """Open the file. Raises StoreError."""
        del lock
        return Store.open(self.address)
