"""The ledger's SQLite file: connections, locking between processes, errors as StoreError."""

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from core.errors import StoreError
from sql.statements import LEDGER_QUERIES, LEDGER_SCHEMA, load_migrations, load_statement

T = TypeVar("T", bound=msgspec.Struct)

_WAIT_S = 3.0
"""Seconds a statement waits for another process, and a thread for another thread."""

_LOOK_EVERY_S = 0.002


class LedgerFile:
    """Two connections, one to read and one to write: a read does not wait until a write is on
    disk."""

    def __init__(self, path: Path, *, wait_s: float = _WAIT_S) -> None:
        self._path = path
        self._wait_s = wait_s
        self._reading = threading.Lock()
        self._writing = threading.Lock()
        with self._translated():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600, exist_ok=True)
            self._writer = self._connect()
            try:
                self._writer.execute("pragma busy_timeout = 0")  # `_begin` waits instead
                self._migrate()
                self._reader = self._connect()
            except BaseException:
                self._writer.close()
                raise

    def close(self) -> None:
        """Close both connections."""
        with self._held(self._writing), self._held(self._reading):
            self._writer.close()
            self._reader.close()

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """Return the rows of a statement that only reads. Raises StoreError."""
        with self._held(self._reading), self._translated():
            return _fetch(self._reader, query, row, params)

    @contextmanager
    def transaction(self) -> Iterator["LedgerWrite"]:
        """Yield a write transaction: committed and on disk at the end of the block, rolled back on
        any exception.

        Raises StoreError, also when another process holds the file for longer than the wait.
        """
        with self._held(self._writing), self._translated():
            self._begin()
            try:
                yield LedgerWrite(self._writer)
                self._writer.execute("commit")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("rollback")
                raise

    def _begin(self) -> None:
        """Begin a write transaction, polling every `_LOOK_EVERY_S`: SQLite's own busy handler backs
        off to a tenth of a second and starves where others write all the time."""
        until_s = time.monotonic() + self._wait_s
        while True:
            try:
                self._writer.execute("begin immediate")
            except sqlite3.OperationalError as error:
                is_locked = error.sqlite_errorcode == sqlite3.SQLITE_BUSY
                if not is_locked or time.monotonic() >= until_s:
                    raise
                time.sleep(_LOOK_EVERY_S)
            else:
                return

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=self._wait_s, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = full")
            connection.execute("pragma foreign_keys = on")
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self) -> None:
        known = load_migrations(LEDGER_SCHEMA)
        with self.transaction():
            version = int(self._writer.execute("pragma user_version").fetchone()[0])
            if version > len(known):
                reason = f"a newer release wrote it (schema {version}; this one knows {len(known)})"
                raise StoreError(path=str(self._path), reason=reason)
            for migration in known[version:]:
                for statement in _statements(migration.text):
                    self._writer.execute(statement)

    @contextmanager
    def _held(self, lock: threading.Lock) -> Iterator[None]:
        if not lock.acquire(timeout=2 * self._wait_s):
            raise StoreError(path=str(self._path), reason="it is busy")
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
            raise StoreError(path=str(self._path), reason=reason) from error
        except OSError as error:
            raise StoreError(path=str(self._path), reason=str(error)) from error


class LedgerWrite:
    """Statements inside one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """Return the rows of a statement, which may also write."""
        return _fetch(self._connection, query, row, params)

    def execute(self, query: str, /, **params: object) -> None:
        """Run a statement for its effect."""
        self._connection.execute(load_statement(query, LEDGER_QUERIES), params)


def _fetch(
    connection: sqlite3.Connection, query: str, row: type[T], params: dict[str, object]
) -> list[T]:
    cursor = connection.execute(load_statement(query, LEDGER_QUERIES), params)
    names = [column[0] for column in cursor.description]
    values: Sequence[tuple[object, ...]] = cursor.fetchall()
    return [msgspec.convert(dict(zip(names, value, strict=True)), row) for value in values]


def _statements(text: str) -> Iterator[str]:
    """Yield a script's statements one by one, as sqlite3's `executescript` would commit first."""
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
