"""One open DuckDB file: settings, cursor pool, and translation of its errors into StoreError."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from core.errors import StoreError
from sql.migrate import migrate

MEMORY = Path(":memory:")

_STORAGE_VERSION = "v1.5.0"
"""The first storage version that compresses long strings."""

_HELD = re.compile(r"Conflicting lock is held.*?\(PID (\d+)\)")
_SAME_PROCESS = "Can't open a connection to same database file with a different configuration"


class Connection:
    """The database instance and a pool of cursors on it.

    A cursor serves one thread at a time. After an error that DuckDB classifies as fatal the
    instance is reopened, once the last cursor of the broken one has been returned.
    """

    def __init__(self, path: Path, *, read_only: bool, memory_limit: str, threads: int) -> None:
        self.path = path
        self._read_only = read_only
        self._config: dict[str, str | bool | int | float | list[str]] = {
            "storage_compatibility_version": _STORAGE_VERSION,
            "memory_limit": memory_limit,
            "threads": str(threads),
            # A SELECT must neither read files nor access this process's Python variables.
            "enable_external_access": "false",
            "python_enable_replacements": "false",
            "lock_configuration": "true",
        }
        self._lock = threading.Lock()
        self._idle: list[duckdb.DuckDBPyConnection] = []
        self._lent = 0
        self._is_broken = False
        self._is_closed = False
        self._root = self._open()

    @contextmanager
    def lend(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a cursor for one thread. Raises StoreError, also for any DuckDB error in the
        block."""
        cursor = self._take()
        try:
            with self._translated():
                yield cursor
        finally:
            self._give_back(cursor)

    def close(self) -> None:
        """Close the file after running reads have ended; a second call does nothing."""
        with self._lock:
            self._is_closed = True
            self._close_all()

    def _take(self) -> duckdb.DuckDBPyConnection:
        with self._lock:
            if self._is_closed:
                raise StoreError(path=str(self.path), reason="it has been closed")
            if self._is_broken:
                self._reopen()
            cursor = self._idle.pop() if self._idle else self._root.cursor()
            self._lent += 1
            return cursor

    def _give_back(self, cursor: duckdb.DuckDBPyConnection) -> None:
        with self._lock:
            self._lent -= 1
            if self._is_closed or self._is_broken:
                cursor.close()
            else:
                self._idle.append(cursor)

    def _reopen(self) -> None:
        if self._lent:
            raise StoreError(path=str(self.path), reason="it is being opened anew after a fault")
        self._close_all()
        self._root = self._open()
        self._is_broken = False

    def _close_all(self) -> None:
        while self._idle:
            self._idle.pop().close()
        # Closing may write a checkpoint; if that fails, the write-ahead log still has the rows.
        with suppress(duckdb.Error):
            self._root.close()

    def _open(self) -> duckdb.DuckDBPyConnection:
        if self._read_only and self.path != MEMORY and not self.path.exists():
            raise StoreError(path=str(self.path), reason="there is no such file")
        with self._translated():
            if not self._read_only and self.path != MEMORY:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            root = duckdb.connect(str(self.path), read_only=self._read_only, config=self._config)
            try:
                migrate(root, self.path, read_only=self._read_only)
            except BaseException:
                root.close()
                raise
            return root

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Translate DuckDB and disk errors into StoreError; no other place does."""
        try:
            yield
        except duckdb.FatalException as error:
            self._is_broken = True
            reason = f"{error}; what was being written may have been kept"
            raise StoreError(path=str(self.path), reason=reason) from error
        except duckdb.Error as error:
            raise StoreError(path=str(self.path), reason=_reason(str(error))) from error
        except OSError as error:
            raise StoreError(path=str(self.path), reason=str(error)) from error


def _reason(text: str) -> str:
    held = _HELD.search(text)
    if held is not None:
        return f"another process owns it (process {held[1]})"
    if _SAME_PROCESS in text:
        return "this process has it open already, with other settings"
    return text
