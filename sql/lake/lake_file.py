"""The lake opened for writing: one DuckDB connection with the serving state attached beside it."""

import fcntl
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import msgspec

from core.errors import StoreError
from sql.lake.extensions import extension_paths, sql_text
from sql.lake.lake_statements import (
    load_lake_migrations,
    load_lake_statement,
    load_layout,
    load_options,
)
from sql.lake.store_identity import read_serving_id, tie_lake
from sql.store_files import StoreFiles

T = TypeVar("T", bound=msgspec.Struct)

MEMORY_MB = 300
"""Memory for DuckDB's buffers; a sort of more spills to disk. The process takes 150 more."""

_BUSY_MS = 10_000
"""Milliseconds a commit waits for another writer of the catalogue."""


class Lake:
    """The lake of one store, for one thread at a time."""

    def __init__(
        self, files: StoreFiles, connection: duckdb.DuckDBPyConnection, *, sees_serving: bool
    ) -> None:
        self.files = files
        self.sees_serving = sees_serving
        """Whether `serving` is attached."""
        self._connection = connection
        self._turn = threading.Lock()

    @classmethod
    def open(
        cls,
        files: StoreFiles,
        *,
        memory_mb: int = MEMORY_MB,
        spill: Path | None = None,
        preserve_order: bool = False,
        sees_serving: bool = True,
    ) -> "Lake":
        """Open the lake of a store, creating it if needed.

        spill: folder for what does not fit into memory. None: the one that all who append share.
        preserve_order: rows are inserted in the order in which they come.
        sees_serving: the serving state is attached as well, read-only, if there is one. Not for a
        process that writes it, too: DuckDB has a SQLite of its own, and where that closes a file,
        this process loses its locks on it. Raises StoreError, also for a lake that a newer release
        wrote, or that is another store's.
        """
        serving_id = read_serving_id(files)
        with _translated(files):
            files.lake_data.mkdir(parents=True, exist_ok=True)
            connection = connect_duckdb(
                memory_mb=memory_mb,
                spill=str(spill or files.lake_spill),
                preserve_order=preserve_order,
            )
            try:
                sees_serving = sees_serving and files.serving.exists()
                if sees_serving:
                    connection.execute(
                        f"attach {sql_text(files.serving)} as serving (type sqlite, read_only)"
                    )
                # Two processes that make the catalogue at once would both try to fill it.
                with locked(files):
                    is_new = not files.lake.exists()
                    connection.execute(
                        f"attach {sql_text(_lake_url(files))} as lake ({data_path_option(files)}, "
                        f"meta_journal_mode 'WAL', meta_busy_timeout {_BUSY_MS})"
                    )
                    _migrate(connection, files, is_new=is_new)
                    tie_lake(connection, files, serving_id)
            except BaseException:
                connection.close()
                raise
        return cls(files, connection, sees_serving=sees_serving)

    def close(self) -> None:
        """Close the lake; a second call does nothing."""
        with self._turn:
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator["LakeTransaction"]:
        """Yield a transaction: committed at the end of the block, rolled back on any exception.

        Raises StoreError, also for any DuckDB error in the block.
        """
        with self._turn, _translated(self.files), _transaction(self._connection):
            yield LakeTransaction(self._connection)

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """Return all rows of a statement as structs. Raises StoreError."""
        with self._turn, _translated(self.files):
            return LakeTransaction(self._connection).fetch(query, row, **params)

    def stream(
        self, query: str, /, *, at_once: int, **params: object
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a statement in pieces of so many; others may use the lake meanwhile.

        All of them see the state at the first piece. Raises StoreError.
        """
        with _translated(self.files), closing(self._connection.cursor()) as cursor:
            result = cursor.execute(load_lake_statement(query), params or None)
            while rows := result.fetchmany(at_once):
                yield rows

    def execute(self, query: str, /, **params: object) -> None:
        """Run a statement for its effect, in a transaction of its own. Raises StoreError."""
        with self._turn, _translated(self.files):
            LakeTransaction(self._connection).execute(query, **params)


class LakeTransaction:
    """Statements on one open transaction."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """Return all rows of statement `verb_noun` as structs, matching columns by name."""
        result = self._connection.execute(load_lake_statement(query), params or None)
        names = [column[0] for column in result.description or ()]
        return [
            msgspec.convert(dict(zip(names, values, strict=True)), row)
            for values in result.fetchall()
        ]

    def execute(self, query: str, /, **params: object) -> None:
        """Run a statement for its effect."""
        self._connection.execute(load_lake_statement(query), params or None)

    def insert(self, query: str, /, **params: object) -> int:
        """Run a statement that inserts. Returns the number of rows."""
        found = self._connection.execute(load_lake_statement(query), params or None).fetchone()
        return int(found[0]) if found else 0

    @contextmanager
    def frames(self, frames: Mapping[str, object]) -> Iterator[None]:
        """Register dicts of numpy columns under these names for the statements in the block."""
        for name, frame in frames.items():
            self._connection.register(name, frame)
        try:
            yield
        finally:
            for name in frames:
                self._connection.unregister(name)


def connect_duckdb(
    *, memory_mb: int, spill: str | None, preserve_order: bool = True
) -> duckdb.DuckDBPyConnection:
    """Return a database in memory with one thread, both extensions loaded and no other to load.

    spill: folder for what does not fit into memory. None: it is an error then.
    """
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": "1",
        "memory_limit": f"{memory_mb}MB",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        # Their packages are hashed in the lock; hashing 70 MB more at each start takes 0.2 s.
        "allow_unsigned_extensions": "true",
        "python_enable_replacements": "false",
        "temp_directory": spill or "",
        "preserve_insertion_order": str(preserve_order).lower(),
    }
    connection = duckdb.connect(":memory:", config=config)
    try:
        connection.execute("set enable_progress_bar = false")  # no option of the database itself
        connection.execute("set timezone = 'UTC'")
        for path in extension_paths():
            connection.execute(f"load {sql_text(path)}")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def locked(files: StoreFiles) -> Iterator[None]:
    """Hold the lock of the lake's writers against other processes and threads.

    Blocks until it is free; it ends with the process that holds it.
    """
    # Whoever may open the file may hold the lock, so it is nobody else's.
    files.lake_lock.touch(mode=0o600, exist_ok=True)
    with files.lake_lock.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    connection.begin()
    try:
        yield
        connection.commit()
    except BaseException:
        # After a failed commit there is no transaction left to roll back.
        with suppress(duckdb.Error):
            connection.rollback()
        raise


def data_path_option(files: StoreFiles) -> str:
    """Return the option of ATTACH that names the folder of the Parquet files.

    The catalogue has the one that it was made with, relative to the folder in which that process
    was started; a store may be moved, or opened from elsewhere.
    """
    return f"data_path {sql_text(files.lake_data.resolve())}, override_data_path true"


def _lake_url(files: StoreFiles) -> str:
    return f"ducklake:sqlite:{files.lake}"


def _migrate(connection: duckdb.DuckDBPyConnection, files: StoreFiles, *, is_new: bool) -> None:
    known = load_lake_migrations()
    version = 0 if is_new else _read_version(connection)
    if version > len(known):
        reason = f"a newer release wrote it (schema {version}; this one knows {len(known)})"
        raise StoreError(path=str(files.lake), reason=reason)
    if version == len(known):
        return
    # Options cannot be set in the transaction that makes their table. Where a process ends before
    # the version is written, the next one does all of it again, which changes nothing. One by one,
    # each of the forty statements would be a commit to the catalogue, and read all of it anew.
    with _transaction(connection):
        for migration in known[version:]:
            connection.execute(migration.text)
        connection.execute(load_layout())
    with _transaction(connection):
        connection.execute(load_options())
        connection.execute(load_lake_statement("write_version"), {"version": len(known)})


def _read_version(connection: duckdb.DuckDBPyConnection) -> int:
    """Return the schema version of the attached lake; 0 if it is empty, or if the process that made
    it ended before the last of its tables."""
    tables = connection.execute(load_lake_statement("list_tables")).fetchall()
    if ("lake_version",) not in tables:
        return 0
    found = connection.execute(load_lake_statement("read_version")).fetchone()
    return int(found[0]) if found and found[0] is not None else 0


@contextmanager
def _translated(files: StoreFiles) -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        raise StoreError(path=str(files.lake), reason=str(error)) from error
    except OSError as error:
        raise StoreError(path=str(files.lake), reason=str(error)) from error
