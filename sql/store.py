"""The DuckDB store: concurrent reads from any thread, one write transaction at a time.

SQL statements are loaded by name. All calls block; asynchronous callers use `asyncio.to_thread`.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import duckdb
import msgspec
import polars as pl

from core.errors import StoreError
from sql.columns import TABLES, decode, encode, table_schema
from sql.connection import Connection
from sql.statements import load_statement

T = TypeVar("T", bound=msgspec.Struct)

_MEMORY_LIMIT = "2GB"
_THREADS = 2
"""DuckDB threads. Look-ups need one, analytical queries many; measured on look-ups, two cost
nothing over one."""


class Reader:
    """Read statements on one cursor; see `Store.snapshot`."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """Return all rows of statement `area/verb_noun` as structs. Raises StoreError."""
        result = self._cursor.execute(load_statement(query), params or None)
        names = [column[0] for column in result.description or ()]
        return decode(names, result.fetchall(), row)

    def fetch_one(self, query: str, row: type[T], /, **params: object) -> T | None:
        """Return the first row, or None when there is none. Raises StoreError."""
        found = self.fetch(query, row, **params)
        return found[0] if found else None

    def fetch_frame(self, query: str, /, **params: object) -> pl.DataFrame:
        """Return all rows as a polars frame with their stored types. Raises StoreError."""
        return self._cursor.execute(load_statement(query), params or None).pl()


class Transaction(Reader):
    """A write transaction: all of its writes become visible together, or none. Its own reads see
    them at once."""

    def execute(self, query: str, /, **params: object) -> None:
        """Run a statement for its effect. Raises StoreError."""
        self._cursor.execute(load_statement(query), params or None)

    def insert(self, table: str, rows: Sequence[msgspec.Struct], /, **added: object) -> int:
        """Append structs to the table of their type; `added` fills the columns before theirs.

        A column `position` numbers the rows. Returns the number of rows. Raises StoreError;
        KeyError for a table that holds no structs.
        """
        if not rows:
            return 0
        frame = encode(rows, TABLES[table])
        schema = table_schema(table)
        if "position" in schema:
            frame = frame.with_row_index("position")
        extra = [pl.lit(value, schema[name]).alias(name) for name, value in added.items()]
        return self.insert_frame(table, frame.with_columns(extra))

    def insert_frame(self, table: str, frame: pl.DataFrame) -> int:
        """Append a frame to a table of structs; columns are matched by name.

        Types are the stored ones: exact amounts as decimal text, flags as text. Returns the number
        of rows. Raises StoreError; polars errors for a column that is missing or of another type.
        """
        schema = table_schema(table)
        stored = frame.select(pl.col(name).cast(dtype) for name, dtype in schema.items())
        if stored.height:
            self._cursor.from_arrow(stored.to_arrow()).insert_into(table)
        return stored.height

    @contextmanager
    def frame(self, name: str, frame: pl.DataFrame) -> Iterator[None]:
        """Register a frame as a table of that name for the statements in the block."""
        self._cursor.register(name, frame.to_arrow())
        try:
            yield
        finally:
            self._cursor.unregister(name)


class Store:
    """One open store file. Thread-safe."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._writing = threading.Lock()
        self._writer: int | None = None

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        read_only: bool = False,
        memory_limit: str = _MEMORY_LIMIT,
        threads: int = _THREADS,
    ) -> "Store":
        """Open a file, creating it if needed, and migrate it to the newest schema.

        `:memory:` keeps nothing on disk. Raises StoreError, with that reason when another process
        owns the file.
        """
        return cls(
            Connection(path, read_only=read_only, memory_limit=memory_limit, threads=threads)
        )

    @property
    def path(self) -> Path:
        """Return the path of the store file."""
        return self._connection.path

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """Return all rows of statement `area/verb_noun` as structs. Raises StoreError."""
        with self._connection.lend() as cursor:
            return Reader(cursor).fetch(query, row, **params)

    def fetch_one(self, query: str, row: type[T], /, **params: object) -> T | None:
        """Return the first row, or None when there is none. Raises StoreError."""
        with self._connection.lend() as cursor:
            return Reader(cursor).fetch_one(query, row, **params)

    def fetch_frame(self, query: str, /, **params: object) -> pl.DataFrame:
        """Return all rows as a polars frame with their stored types. Raises StoreError."""
        with self._connection.lend() as cursor:
            return Reader(cursor).fetch_frame(query, **params)

    @contextmanager
    def snapshot(self) -> Iterator[Reader]:
        """Yield a reader whose reads all see the same state."""
        with self.cursor() as cursor:
            yield Reader(cursor)

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a bare cursor inside a read-only transaction. Raises StoreError."""
        with self._connection.lend() as cursor:
            cursor.execute("begin transaction read only")
            try:
                yield cursor
            finally:
                _end(cursor)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Yield a write transaction: committed at the end of the block, rolled back on any
        exception.

        Waits for the writer before it. Raises StoreError when the commit fails, and when this
        thread is in a transaction already.
        """
        if self._writer == threading.get_ident():
            raise StoreError(path=str(self.path), reason="this thread is writing already")
        with self._writing:
            self._writer = threading.get_ident()
            try:
                with self._connection.lend() as cursor:
                    yield from _written(cursor)
            finally:
                self._writer = None

    def close(self) -> None:
        """Wait for a running transaction to end, then close the file."""
        with self._writing:
            self._connection.close()


def _written(cursor: duckdb.DuckDBPyConnection) -> Iterator[Transaction]:
    cursor.begin()
    try:
        yield Transaction(cursor)
        cursor.commit()
    except BaseException:
        _end(cursor)
        raise


def _end(cursor: duckdb.DuckDBPyConnection) -> None:
    # After a failed commit or a fatal error there is no transaction left to roll back.
    with suppress(duckdb.Error):
        cursor.rollback()


Readable = Store | Reader
"""Anything a read can run on: the store, a snapshot of it, or an open transaction."""
