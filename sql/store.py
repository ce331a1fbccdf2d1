"""The DuckDB store: reads from any thread, one writer at a time, statements by name.

Everything here blocks; asynchronous callers go through `asyncio.to_thread`.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import duckdb
import msgspec
import polars as pl

from config.errors import StoreError
from sql.columns import TABLES, decode, encode, table_schema
from sql.connection import Connection
from sql.statements import load_statement

T = TypeVar("T", bound=msgspec.Struct)

_MEMORY_LIMIT = "2GB"
_THREADS = 2
"""Look-ups want one thread, analysts many. Measured on look-ups, two cost nothing over one."""


class Reader:
    """Statements on one cursor; see `Store.snapshot`."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """All rows of `area/verb_noun` as structs. Raises StoreError."""
        result = self._cursor.execute(load_statement(query), params or None)
        names = [column[0] for column in result.description or ()]
        return decode(names, result.fetchall(), row)

    def fetch_one(self, query: str, row: type[T], /, **params: object) -> T | None:
        """The first row, or None when there is none. Raises StoreError."""
        found = self.fetch(query, row, **params)
        return found[0] if found else None

    def fetch_frame(self, query: str, /, **params: object) -> pl.DataFrame:
        """All rows with their stored types, for work in columns. Raises StoreError."""
        return self._cursor.execute(load_statement(query), params or None).pl()


class Transaction(Reader):
    """Writes that become visible together, or not at all. Its own reads see them at once."""

    def execute(self, query: str, /, **params: object) -> None:
        """Run a statement for its effect. Raises StoreError."""
        self._cursor.execute(load_statement(query), params or None)

    def insert(self, table: str, rows: Sequence[msgspec.Struct], /, **added: object) -> int:
        """Append structs to the table of their kind; `added` fills the columns before theirs.

        A column `position` numbers the rows. Returns how many. Raises StoreError; KeyError for a
        table that holds no structs.
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
        """Append a frame to a table that holds structs; columns are matched by name.

        Types are those stored: exact amounts as decimal text, flags as text. Returns how many
        rows. Raises StoreError; polars errors for a column that is missing or of another kind.
        """
        schema = table_schema(table)
        stored = frame.select(pl.col(name).cast(dtype) for name, dtype in schema.items())
        if stored.height:
            self._cursor.from_arrow(stored.to_arrow()).insert_into(table)
        return stored.height

    @contextmanager
    def frame(self, name: str, frame: pl.DataFrame) -> Iterator[None]:
        """Let the block's statements read a frame as if it were a table of that name."""
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
        """Open a file, make it if need be, and bring it to the newest schema.

        `:memory:` keeps nothing. Raises StoreError, which says so when another process owns it.
        """
        return cls(
            Connection(path, read_only=read_only, memory_limit=memory_limit, threads=threads)
        )

    @property
    def path(self) -> Path:
        """The file."""
        return self._connection.path

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """All rows of `area/verb_noun` as structs. Raises StoreError."""
        with self._connection.lend() as cursor:
            return Reader(cursor).fetch(query, row, **params)

    def fetch_one(self, query: str, row: type[T], /, **params: object) -> T | None:
        """The first row, or None when there is none. Raises StoreError."""
        with self._connection.lend() as cursor:
            return Reader(cursor).fetch_one(query, row, **params)

    def fetch_frame(self, query: str, /, **params: object) -> pl.DataFrame:
        """All rows with their stored types, for work in columns. Raises StoreError."""
        with self._connection.lend() as cursor:
            return Reader(cursor).fetch_frame(query, **params)

    @contextmanager
    def snapshot(self) -> Iterator[Reader]:
        """Several reads of one and the same state."""
        with self.cursor() as cursor:
            yield Reader(cursor)

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A bare cursor inside a transaction that cannot write. Raises StoreError."""
        with self._connection.lend() as cursor:
            cursor.execute("begin transaction read only")
            try:
                yield cursor
            finally:
                _end(cursor)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """One writer's block: committed at its end, undone on any exception.

        Waits for the writer before. Raises StoreError when the commit fails, and when the thread
        is in a transaction already.
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
        """Let a transaction that runs come to its end, then give the file up."""
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
    # After a failed commit or a fatal fault there is no transaction left to undo.
    with suppress(duckdb.Error):
        cursor.rollback()


Readable = Store | Reader
"""What a read can run on: the store, a snapshot of it, or a transaction under way."""
