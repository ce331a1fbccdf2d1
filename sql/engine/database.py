"""What runs statements by name, whichever engine holds the rows: reads, snapshots, transactions."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from core.errors import StoreError
from sql.engine.columns import decode

T = TypeVar("T", bound=msgspec.Struct)

OnConflict = Literal["abort", "ignore", "replace"]
"""What becomes of a row whose key is taken. abort: an error. ignore: the row there stays. replace:
it becomes the new one."""


class UnknownOutcomeError(StoreError):
    """Whether a transaction was committed is not known: who does all again may do it twice."""

    def __init__(self, *, path: str, reason: str, ask: Callable[[], bool | None]) -> None:
        super().__init__(path=path, reason=reason)
        self._ask = ask

    def was_committed(self) -> bool | None:
        """Ask the server once more; blocks. None: it is still not known."""
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
        """Run a statement once for each row of its positional parameters, without waiting for one
        answer before the next question; return what each found, as stored. Raises StoreError."""

    @abstractmethod
    def stream(
        self, query: str, /, *, at_once: int, **params: object
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows as they are stored, in pieces of so many. Raises StoreError."""

    @abstractmethod
    def _run(
        self, query: str, params: dict[str, object]
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the names of the columns, and all rows."""


class Transaction(Reader):
    """A write transaction: its own reads see its writes at once, others all of them or none."""

    @abstractmethod
    def execute(self, query: str, /, **params: object) -> int:
        """Run a statement for its effect; return the number of rows changed. Raises StoreError."""

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
        """Insert structs of one type into a table with columns of their fields' names.

        `added` fills columns beside theirs, with one value for all rows. Returns the number of rows
        inserted. Raises StoreError.
        """

    @abstractmethod
    def execute_many(self, query: str, rows: Iterable[Sequence[object]], /) -> int:
        """Run a statement once for each row of its positional parameters; return the number of
        rows changed. Raises StoreError."""

    @abstractmethod
    def pipelined(self) -> AbstractContextManager[None]:
        """Send the writes of a block without waiting for the answer to one before the next.

        A read waits for all before it. What the writes return means nothing there, and what became
        of them is told later: by a read, or by the end of the block. Raises StoreError.
        """


class Database(Protocol):
    """What holds the serving state. Thread-safe; several processes may have the same one open."""

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """Return the rows of a statement that only reads. Raises StoreError."""

    def fetch_tuples(self, query: str, /, **params: object) -> list[tuple[Any, ...]]:
        """Return all rows of a statement that only reads as they are stored. Raises StoreError."""

    def snapshot(self) -> AbstractContextManager[Reader]:
        """Yield a reader whose reads all see the same state. Raises StoreError."""

    def transaction(self, *, chain_id: int | None = None) -> AbstractContextManager[Transaction]:
        """Yield a write transaction: committed at the end of the block, rolled back on any
        exception.

        `chain_id`: it writes rows of this chain only, or such as no other transaction reads to
        decide what to write; None: of any. Raises StoreError.
        """

    def close(self) -> None:
        """Close all connections once they are not in use. A second call does nothing."""
