"""One SQLite file in WAL mode: connections, migrations, locking between processes, errors as
StoreError.

Reads run concurrently on separate connections and never wait for the writer; there is one writer
at a time, over all threads and processes.
"""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from core.errors import StoreError
from sql.engine.columns import rows_to_insert
from sql.engine.database import OnConflict, Reader, Transaction
from sql.engine.statements import Queries, load_migrations, load_statement

T = TypeVar("T", bound=msgspec.Struct)

_WAIT_S = 3.0
"""Seconds to wait for a lock of another process, and of another thread."""

_LOOK_EVERY_S = 0.002

_STATEMENTS_KEPT = 512
"""Prepared statements kept by a connection."""


class FileLayout(msgspec.Struct, frozen=True, kw_only=True):
    """Content and durability of a file."""

    schema: Path
    """Folder of numbered migrations."""
    queries: Queries
    """Home of the statements that run on it."""
    synchronous: Literal["normal", "full"]
    """full: a commit is on disk when it returns. normal: a power cut may revert the last commits,
    each as a whole; the end of this process reverts none."""
    commits_checkpoint: bool = True
    """False: commits never move the write-ahead log into the file; `checkpoint` does."""
    cache_mb: int = 2
    """Page cache of the writing connection; each reading one has a quarter."""


class SqliteReader(Reader):
    """Statements on one connection of a file."""

    def __init__(self, connection: sqlite3.Connection, queries: Queries) -> None:
        self._connection = connection
        self._queries = queries

    def fetch_each(
        self, query: str, rows: Sequence[Sequence[object]], /
    ) -> list[list[tuple[Any, ...]]]:
        """Run a statement once per row; return the rows that each run found. Raises StoreError."""
        statement = load_statement(query, self._queries)
        return [self._connection.execute(statement, row).fetchall() for row in rows]

    def stream(
        self, query: str, /, *, at_once: int, **params: object
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows as they are stored, in chunks of `at_once`. Raises StoreError."""
        cursor = self._connection.execute(load_statement(query, self._queries), params)
        while rows := cursor.fetchmany(at_once):
            yield rows

    def _run(
        self, query: str, params: dict[str, object]
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        cursor = self._connection.execute(load_statement(query, self._queries), params)
        return [column[0] for column in cursor.description], cursor.fetchall()


class SqliteTransaction(SqliteReader, Transaction):
    """A write transaction on one connection of a file."""

    def execute(self, query: str, /, **params: object) -> int:
        """Run a statement that writes; return the number of rows changed. Raises StoreError."""
        cursor = self._connection.execute(load_statement(query, self._queries), params)
        return cursor.rowcount

    def insert(
        self,
        table: str,
        rows: Sequence[msgspec.Struct],
        /,
        *,
        on_conflict: OnConflict = "abort",
        **added: object,
    ) -> int:
        """Insert structs of one type; see `Transaction.insert`. Raises StoreError."""
        if not rows:
            return 0
        names = (*added, *type(rows[0]).__struct_fields__)
        places = ", ".join("?" * len(names))
        # Names come from our own structs, never from outside.
        statement = f"insert or {on_conflict} into {table} ({', '.join(names)}) values ({places})"  # noqa: S608
        cursor = self._connection.executemany(statement, rows_to_insert(rows, added))
        return cursor.rowcount

    def execute_many(self, query: str, rows: Iterable[Sequence[object]], /) -> int:
        """Run a statement once per row; return the number of rows changed. Raises StoreError."""
        return self._connection.executemany(load_statement(query, self._queries), rows).rowcount

    def pipelined(self) -> AbstractContextManager[None]:
        """Do nothing: there is no server to wait for."""
        return nullcontext()


class SqliteFile:
    """One open file. Thread-safe; several processes may have the same file open."""

    def __init__(
        self,
        path: Path,
        layout: FileLayout,
        *,
        wait_s: float = _WAIT_S,
        must_exist: bool = False,
    ) -> None:
        """Open the file, creating it if needed, readable by its owner only, and migrate it.

        `must_exist`: create nothing. Raises StoreError.
        """
        if must_exist and not path.exists():
            raise StoreError(path=str(path), reason="there is no such file")
        self.path = path
        self._layout = layout
        self._wait_s = wait_s
        self._writing = threading.Lock()
        self._writer_thread: int | None = None
        self._pool = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._is_closed = False
        self._writer: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        """Device and number of the open file. None: it is being opened."""
        with self._translated():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600, exist_ok=True)
            try:
                self._migrate()
            except BaseException:
                self._drop_writer()
                raise
            self._identity = _identity_of(path)

    @property
    def mark(self) -> int:
        """Return the file's application id; 0 in a new file. Raises StoreError."""
        with self._lent() as connection:
            return int(connection.execute("pragma application_id").fetchone()[0])

    def set_mark(self, mark: int) -> None:
        """Set the file's application id, a number of 31 bits. Raises StoreError."""
        with self.transaction():
            self._opened_writer().execute(f"pragma application_id = {int(mark)}")

    def check_present(self) -> None:
        """Check that the path still is the open file. Raises StoreError."""
        if _identity_of(self.path) != self._identity:
            reason = "the file has vanished, or another one has taken its place; restart with it"
            raise StoreError(path=str(self.path), reason=reason)

    def close(self) -> None:
        """Wait for a running transaction to end, then close all connections that are not in use.

        A running read keeps its connection until it ends. A second call does nothing.
        """
        with self._held(self._writing), self._pool:
            self._is_closed = True
            while self._idle:
                self._idle.pop().close()
            self._drop_writer()

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """Return the rows of a statement that only reads. Raises StoreError."""
        with self._lent() as connection:
            return SqliteReader(connection, self._layout.queries).fetch(query, row, **params)

    def fetch_tuples(self, query: str, /, **params: object) -> list[tuple[Any, ...]]:
        """Return all rows of a statement that only reads as they are stored. Raises StoreError."""
        with self._lent() as connection:
            return SqliteReader(connection, self._layout.queries).fetch_tuples(query, **params)

    def stream(
        self, query: str, /, *, at_once: int, **params: object
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a read-only statement as they are stored, in chunks of `at_once`.

        All chunks see the state at the first one. Raises StoreError.
        """
        with self._lent() as connection:
            yield from SqliteReader(connection, self._layout.queries).stream(
                query, at_once=at_once, **params
            )

    @contextmanager
    def snapshot(self) -> Iterator[Reader]:
        """Yield a reader whose reads all see the same state. Raises StoreError."""
        with self._lent() as connection:
            connection.execute("begin")
            try:
                yield SqliteReader(connection, self._layout.queries)
            finally:
                connection.execute("rollback")

    @contextmanager
    def transaction(self, *, chain_id: int | None = None) -> Iterator[Transaction]:
        """Yield a write transaction: committed at the end of the block, rolled back on any
        exception. Transactions of all chains run one at a time.

        Raises StoreError, also when another process holds the file for too long, and when this
        thread is in a transaction already.
        """
        if self._writer_thread == threading.get_ident():
            raise StoreError(path=str(self.path), reason="this thread is writing already")
        with self._held(self._writing), self._translated():
            writer = self._opened_writer()
            self._begin(writer)
            self._writer_thread = threading.get_ident()
            try:
                yield SqliteTransaction(writer, self._layout.queries)
                writer.execute("commit")
            except BaseException:
                self._roll_back(writer)
                raise
            finally:
                self._writer_thread = None

    def checkpoint(self, *, truncate_above_bytes: int) -> None:
        """Move the write-ahead log into the file without blocking readers or writers.

        A log above the bound is also truncated, unless a reader holds it; writers wait for the
        truncation, but not for readers. Raises StoreError.
        """
        with self._lent() as connection:
            connection.execute("pragma wal_checkpoint(passive)").fetchall()
            log = self.path.with_name(self.path.name + "-wal")
            if log.exists() and log.stat().st_size > truncate_above_bytes:
                connection.execute("pragma busy_timeout = 0")
                connection.execute("pragma wal_checkpoint(truncate)").fetchall()
                connection.execute(f"pragma busy_timeout = {int(1e3 * self._wait_s)}")

    # --- connections --------------------------------------------------------------------------

    @contextmanager
    def _lent(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection for reads. One with a failed statement is not used again."""
        with self._translated():
            with self._pool:
                self._refuse_closed()
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                connection = self._connect(cache_mb=max(1, self._layout.cache_mb // 4))
                connection.execute("pragma query_only = on")
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            with self._pool:
                if not self._is_closed:
                    self._idle.append(connection)
                    return
            connection.close()

    def _opened_writer(self) -> sqlite3.Connection:
        self._refuse_closed()
        if self._writer is None:
            self._writer = self._connect(cache_mb=self._layout.cache_mb)
            self._writer.execute("pragma busy_timeout = 0")  # `_begin` waits instead
        return self._writer

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise StoreError(path=str(self.path), reason="it has been closed")

    def _begin(self, writer: sqlite3.Connection) -> None:
        """Begin a write transaction, polling every `_LOOK_EVERY_S`.

        SQLite's busy handler backs off to a tenth of a second and starves among constant writers.
        """
        until_s = time.monotonic() + self._wait_s
        while True:
            try:
                writer.execute("begin immediate")
            except sqlite3.OperationalError as error:
                is_locked = error.sqlite_errorcode == sqlite3.SQLITE_BUSY
                if not is_locked or time.monotonic() >= until_s:
                    raise
                time.sleep(_LOOK_EVERY_S)
            else:
                return

    def _roll_back(self, writer: sqlite3.Connection) -> None:
        """Roll back; if that fails close the connection, and the next transaction opens another."""
        try:
            if writer.in_transaction:
                writer.execute("rollback")
        except sqlite3.Error:
            self._drop_writer()

    def _drop_writer(self) -> None:
        if self._writer is not None:
            with contextlib.suppress(sqlite3.Error):
                self._writer.close()
            self._writer = None

    def _connect(self, *, cache_mb: int) -> sqlite3.Connection:
        if self._identity is not None:
            self.check_present()  # SQLite would create an empty file
        connection = sqlite3.connect(
            self.path,
            timeout=self._wait_s,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_STATEMENTS_KEPT,
        )
        try:
            connection.create_function("from_hex", 1, bytes.fromhex, deterministic=True)
            connection.execute("pragma journal_mode = wal")
            connection.execute(f"pragma synchronous = {self._layout.synchronous}")
            connection.execute("pragma foreign_keys = on")
            connection.execute("pragma temp_store = memory")
            connection.execute(f"pragma cache_size = {-1024 * cache_mb}")
            if not self._layout.commits_checkpoint:
                connection.execute("pragma wal_autocheckpoint = 0")
        except BaseException:
            connection.close()
            raise
        return connection

    # --- schema -------------------------------------------------------------------------------

    def _migrate(self) -> None:
        known = load_migrations(self._layout.schema)
        if _version_of(self._opened_writer()) == len(known):
            return  # without waiting for the writer
        with self.transaction():
            writer = self._opened_writer()
            version = _version_of(writer)
            if version > len(known):
                reason = f"a newer release wrote it (schema {version}; this one knows {len(known)})"
                raise StoreError(path=str(self.path), reason=reason)
            for migration in known[version:]:
                for statement in _statements(migration.text):
                    writer.execute(statement)
            if version < len(known):
                writer.execute(f"pragma user_version = {len(known)}")

    # --- errors -------------------------------------------------------------------------------

    @contextmanager
    def _held(self, lock: threading.Lock) -> Iterator[None]:
        if not lock.acquire(timeout=2 * self._wait_s):
            raise StoreError(path=str(self.path), reason="it is busy")
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            is_locked = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
            reason = "another process holds it" if is_locked else str(error)
            raise StoreError(path=str(self.path), reason=reason) from error
        except (OSError, OverflowError, UnicodeEncodeError) as error:
            # The last two: a number beyond 64 bits, or a text that is not valid Unicode.
            raise StoreError(path=str(self.path), reason=str(error)) from error


def _identity_of(path: Path) -> tuple[int, int] | None:
    """Return device and number of a file. None: there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _version_of(connection: sqlite3.Connection) -> int:
    return int(connection.execute("pragma user_version").fetchone()[0])


def _statements(text: str) -> Iterator[str]:
    """Yield the statements of a script: sqlite3's `executescript` would commit first."""
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
