"""SQLite file of a store that is being moved, locked against writers."""

import hashlib
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from core.errors import StoreError

_TABLES = "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'"
_COLUMNS = "select name, pk from pragma_table_info(?) order by cid"
_LAST_GIVEN = "select seq from sqlite_sequence where name = ?"
_HAS_SEQUENCES = "select 1 from sqlite_master where name = 'sqlite_sequence'"
_HASH_BYTES = 4
_WAIT_S = 3.0


class TableSums(msgspec.Struct, frozen=True):
    """Number of rows and checksums of a table, equal for equal copies."""

    rows: int
    sums: tuple[int, ...]
    """One per column: the sum of numbers, or of the first four bytes of each other value's SHA-256.
    Nulls count as 0."""


class SourceFile:
    """One open file."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    def tables(self) -> list[str]:
        """Return the names of all tables."""
        return [str(name) for (name,) in self._connection.execute(_TABLES)]

    def columns(self, table: str) -> list[str]:
        """Return the names of a table's columns."""
        return [str(name) for name, _ in self._connection.execute(_COLUMNS, (table,))]

    def count(self, table: str) -> int:
        """Return the number of rows."""
        (row,) = self._connection.execute(f"select count(*) from {table}")  # noqa: S608
        return int(row[0])

    def pages(self, table: str, *, after: int, at_once: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows after the first `after`, in a stable order."""
        columns = ", ".join(map(_quoted, self.columns(table)))
        key = [name for name, place in self._connection.execute(_COLUMNS, (table,)) if place]
        order = f" order by {', '.join(map(_quoted, key))}" if key else ""
        # Names come from the schema.
        query = f"select {columns} from {table}{order} limit -1 offset ?"  # noqa: S608
        cursor = self._connection.execute(query, (after,))
        while rows := cursor.fetchmany(at_once):
            yield rows

    def last_given(self, table: str) -> int:
        """Return the last number assigned to a row of a table; 0 without one."""
        if self._connection.execute(_HAS_SEQUENCES).fetchone() is None:
            return 0
        found = self._connection.execute(_LAST_GIVEN, (table,)).fetchone()
        return 0 if found is None else int(found[0])

    def sums(self, table: str) -> TableSums:
        """Return the sums of a table."""
        each = ", ".join(f"exact_sum({_quoted(name)})" for name in self.columns(table))
        (row,) = self._connection.execute(f"select count(*), {each} from {table}")  # noqa: S608
        # SQLite returns null for no rows.
        return TableSums(rows=int(row[0]), sums=tuple(int(each or 0) for each in row[1:]))


@contextmanager
def lock_file(path: Path) -> Iterator[SourceFile]:
    """Yield a file that no other process can write until the end of the block.

    Raises StoreError, also while another process is writing.
    """
    try:
        connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)
        try:
            connection.create_aggregate("exact_sum", 1, _ExactSum)  # type: ignore[arg-type]  # its result is a text
            connection.execute("begin immediate")
            yield SourceFile(path, connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        reason = f"{error}; end the service that runs on it first"
        raise StoreError(path=str(path), reason=reason) from error


class _ExactSum:
    """Sum of a column beyond 64 bits."""

    def __init__(self) -> None:
        self._sum = 0

    def step(self, value: object) -> None:
        """Add a value."""
        match value:
            case int():
                self._sum += value
            case float():
                self._sum += _hash(struct.pack(">d", value))
            case str():
                self._sum += _hash(without_nul(value).encode())
            case bytes():
                self._sum += _hash(value)

    def finalize(self) -> str:
        """Return the sum as text."""
        return str(self._sum)


def without_nul(text: str) -> str:
    """Return a text without NUL, which PostgreSQL cannot store."""
    return text.replace("\0", "")


def plain_row(row: Sequence[object]) -> tuple[object, ...]:
    """Return the values of a row in a form that PostgreSQL can store."""
    return tuple(without_nul(value) if isinstance(value, str) else value for value in row)


def _hash(value: bytes) -> int:
    return int.from_bytes(hashlib.sha256(value).digest()[:_HASH_BYTES], "big")


def _quoted(name: str) -> str:
    return f'"{name}"'
