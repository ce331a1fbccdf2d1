"""Interface of a database engine: reads, snapshots and transactions by statement name."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from core.errors import StoreError
from sql.engine.columns import decode

T = TypeVar("T", bound=msgspec.Struct)

OnConflict = Literal["abort", "ignore", "replace"]
"""Treatment of a row whose key exists. abort: an error. ignore: the stored row stays. replace: the
new row replaces it."""


class UnknownOutcomeError(StoreError):
    """The outcome of a commit is unknown: repeating the transaction may apply it twice."""

    def __init__(self, *, path: str, reason: str, ask: Callable[[], bool | None]) -> None:
        super().__init__(path=path, reason=reason)
        self._ask = ask

    def was_committed(self) -> bool | None:
        """Query the server for the outcome; blocks. None: it is still unknown."""
        return self._ask()


class Reader(ABC):
    """Statements on one connection; inside `snapshot` they all see the same state."""

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """Return all rows of a statement as structs. Raises StoreError."""
        names, values = self._run(query, params)
        return decode(names, values, row)

    def fetch_one(self, query: str, row: type[T], /, **params: object) -> T | None:
        """Return the first row, or None when there is none. Raises StoreError."""
        found = self.fetch(query, row, **params)
        return found[0] if found else None

    def fetch_tuples(self, query: str, /, **params: object) -> list[tuple[Any, ...]]:
        """Return all rows as they are stored: blobs as bytes. Raises StoreError."""
        return self._run(query, params)[1]

    @abstractmethod
    def fetch_each(
        self, query: str, rows: Sequence[Sequence[object]], /
    ) -> list[list[tuple[Any, ...]]]:
        """Run a statement once per row of positional parameters, pipelined; return the rows that
        each run found, as stored. Raises StoreError."""

    @abstractmethod
    def stream(
        self, query: str, /, *, at_once: int, **params: object
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows as they are stored, in chunks of `at_once`. Raises StoreError."""

    @abstractmethod
    def _run(
        self, query: str, params: dict[str, object]
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the column names and all rows."""


class Transaction(Reader):
    """A write transaction: its reads see its writes, other readers all of them or none."""

    @abstractmethod
    def execute(self, query: str, /, **params: object) -> int:
        """Run a statement that writes; return the number of rows changed. Raises StoreError."""

    @abstractmethod
    def insert(
        self,
        table: str,
        rows: Sequence[msgspec.Struct],
        /,
        *,
        on_conflict: OnConflict = "abort",
        **added: object,
    ) -> int:
        """Insert structs of one type into a table whose columns are named like their fields.

        `added` fills further columns, with one value for all rows. Returns the number of rows
        inserted. Raises StoreError.
        """

    @abstractmethod
    def execute_many(self, query: str, rows: Iterable[Sequence[object]], /) -> int:
        """Run a statement once per row of positional parameters; return the number of rows changed.
        Raises StoreError."""

    @abstractmethod
    def pipelined(self) -> AbstractContextManager[None]:
        """Send the writes of a block without waiting for each response.

        A read waits for all writes before it. Counts that writes return are meaningless inside the
        block; their errors are raised by the next read or at the end of the block. Raises
        StoreError.
        """


class Database(Protocol):
    """A database of one layout. Thread-safe; several processes may have it open."""

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """Return the rows of a statement that only reads. Raises StoreError."""

    def fetch_tuples(self, query: str, /, **params: object) -> list[tuple[Any, ...]]:
        """Return all rows of a statement that only reads as they are stored. Raises StoreError."""

    def snapshot(self) -> AbstractContextManager[Reader]:
        """Yield a reader whose reads all see the same state. Raises StoreError."""

    def transaction(self, *, chain_id: int | None = None) -> AbstractContextManager[Transaction]:
        """Yield a write transaction: committed at the end of the block, rolled back on any
        exception.

        `chain_id`: it writes rows of this chain only, or rows that no other transaction bases its
        writes on; None: any rows. Raises StoreError.
        """

    def close(self) -> None:
        """Close all connections once they are not in use. A second call does nothing."""
