"""The serving state in a PostgreSQL database: statements, snapshots and transactions.

Write transactions of one chain run one at a time, by a lock on the chain's row in `chain_writer`;
those of different chains run concurrently, and one without a chain runs alone. So the rows that a
transaction has read of its chain stay unchanged until it ends, as in SQLite, and as this lock is
the first of each transaction, there are no deadlocks.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import psycopg
from psycopg import errors
from psycopg.pq import Format, TransactionStatus
from psycopg.raw_cursor import RawCursor, RawServerCursor

from core.errors import StoreError
from sql.engine.columns import rows_to_insert
from sql.engine.database import OnConflict, Reader, Transaction, UnknownOutcomeError
from sql.engine.database_layout import DatabaseLayout
from sql.engine.postgres.connection_limits import ConnectionLimits, OverdueError, PostgresConnection
from sql.engine.postgres.connection_pool import ConnectionPool, is_lost
from sql.engine.postgres.migrations import migrate, read_primary_keys
from sql.engine.postgres.postgres_url import shown_url
from sql.engine.postgres.statement_text import NumberedStatement, load_numbered
from sql.engine.postgres.write_guard import check_guard
from sql.engine.statements import Queries

T = TypeVar("T", bound=msgspec.Struct)

_SNAPSHOT = "begin isolation level repeatable read, read only"
_OPEN = (TransactionStatus.INTRANS, TransactionStatus.INERROR)
_WRITE = "begin isolation level read committed, read write; select pg_current_xact_id()::text"
"""Returns the number under which the server knows the transaction's outcome later."""

_OUTCOME = "select pg_xact_status(%s::text::xid8)"
_END = (
    "select pg_terminate_backend(pid) from pg_stat_activity"
    " where backend_xid = %s::text::xid8::xid and datname = current_database()"
)
"""Ends the session of a transaction whose connection is lost: a commit that is still in transit
must not arrive after its failure was reported."""

_ASK_EVERY_S = 0.05
_LOCK_CHAIN = "select 1 from chain_writer where chain_id = $1 for update"
_ADD_CHAIN = "insert into chain_writer (chain_id) values ($1) on conflict do nothing"


class PostgresReader(Reader):
    """Statements on one connection."""

    def __init__(
        self, connection: PostgresConnection, pool: ConnectionPool, *, name: str, queries: Queries
    ) -> None:
        self._connection = connection
        self._pool = pool
        self._name = name
        self._queries = queries

    def fetch_each(
        self, query: str, rows: Sequence[Sequence[object]], /
    ) -> list[list[tuple[Any, ...]]]:
        """Run a statement once per row; return the rows that each run found. Raises StoreError."""
        if not rows:
            return []
        statement = load_numbered(query, self._queries).text
        cursor = RawCursor(self._connection)
        cursor.format = Format.BINARY
        with self._named(query), self._pool.watch.over(self._connection):
            cursor.executemany(statement, rows, returning=True)
            return [found.fetchall() for found in cursor.results()]

    def stream(
        self, query: str, /, *, at_once: int, **params: object
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows as they are stored, in chunks of `at_once`; only inside a snapshot. Raises
        StoreError."""
        statement = load_numbered(query, self._queries)
        with (
            self._named(query),
            RawServerCursor(self._connection, "stream", scrollable=False) as cursor,
        ):
            with self._pool.watch.over(self._connection):
                cursor.execute(statement.text, _values(statement, params), binary=True)
            while True:
                with self._pool.watch.over(self._connection):
                    rows = cursor.fetchmany(at_once)
                if not rows:
                    return
                yield rows

    def _run(
        self, query: str, params: dict[str, object]
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        cursor = self._execute(query, params)
        with self._named(query), self._pool.watch.over(self._connection):
            rows = cursor.fetchall()  # in a pipeline the response is awaited here
        return [column.name for column in cursor.description or ()], rows

    def _execute(self, query: str, params: Mapping[str, object]) -> RawCursor[tuple[Any, ...]]:
        statement = load_numbered(query, self._queries)
        cursor = RawCursor(self._connection)
        with self._named(query), self._pool.watch.over(self._connection):
            cursor.execute(statement.text, _values(statement, params), binary=True)
        return cursor

    @contextlib.contextmanager
    def _named(self, query: str) -> Iterator[None]:
        with translate_errors(self._name, doing=query):
            yield


class PostgresTransaction(PostgresReader, Transaction):
    """A write transaction on one connection."""

    def __init__(
        self,
        connection: PostgresConnection,
        pool: ConnectionPool,
        *,
        name: str,
        queries: Queries,
        keys: Mapping[str, Sequence[str]],
    ) -> None:
        """Wrap a connection. `keys`: the columns of each table's primary key."""
        super().__init__(connection, pool, name=name, queries=queries)
        self._keys = keys

    def execute(self, query: str, /, **params: object) -> int:
        """Run a statement that writes; return the number of rows changed. Raises StoreError."""
        return self._execute(query, params).rowcount

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
        places = ", ".join(f"${at}" for at in range(1, len(names) + 1))
        # Names come from our own structs and from the catalogue, never from outside.
        statement = (
            f"insert into {table} ({', '.join(names)}) values ({places})"  # noqa: S608
            + self._conflict_clause(table, names, on_conflict)
        )
        return self._execute_many(f"insert {table}", statement, rows_to_insert(rows, added))

    def execute_many(self, query: str, rows: Iterable[Sequence[object]], /) -> int:
        """Run a statement once per row; return the number of rows changed. Raises StoreError."""
        return self._execute_many(query, load_numbered(query, self._queries).text, rows)

    @contextlib.contextmanager
    def pipelined(self) -> Iterator[None]:
        """Send the writes of a block in a row; see `Transaction.pipelined`. Raises StoreError."""
        with (
            self._named("pipeline"),
            self._pool.watch.over(self._connection),
            self._connection.pipeline(),
        ):
            yield

    def _execute_many(self, query: str, statement: str, rows: Iterable[Sequence[object]]) -> int:
        cursor = RawCursor(self._connection)
        with self._named(query), self._pool.watch.over(self._connection):
            cursor.executemany(statement, rows)
        return max(0, cursor.rowcount)

    def _conflict_clause(self, table: str, names: Sequence[str], on_conflict: OnConflict) -> str:
        if on_conflict == "abort":
            return ""
        if on_conflict == "ignore":
            return " on conflict do nothing"
        key = self._keys[table]
        others = ", ".join(f"{name} = excluded.{name}" for name in names if name not in key)
        return f" on conflict ({', '.join(key)}) do " + (
            f"update set {others}" if others else "nothing"
        )


class PostgresDatabase:
    """One database. Thread-safe; any number of processes may have it open."""

    def __init__(
        self,
        url: str,
        layout: DatabaseLayout,
        *,
        limits: ConnectionLimits | None = None,
        must_exist: bool = False,
        may_be_moving: bool = False,
        session: str = "assay",
    ) -> None:
        """Connect, and migrate to the newest schema.

        `must_exist`: create nothing. `may_be_moving`: accept a database that a store is being moved
        into. `session`: application name of the connections. Raises StoreError, which never
        contains the URL's password.
        """
        self.name = shown_url(url)
        self._queries = layout.queries
        self._lock_all = f"lock table {layout.lock_table} in exclusive mode"
        limits = limits or ConnectionLimits()
        self._lock_s = limits.lock_s
        self._pool = ConnectionPool(url, name=self.name, limits=limits, session=session)
        self._own = threading.local()
        try:
            with translate_errors(self.name, doing="migrate"):
                with self._pool.lent() as connection:
                    migrate(
                        connection,
                        layout,
                        name=self.name,
                        must_exist=must_exist,
                        may_be_moving=may_be_moving,
                    )
                with self._pool.lent() as connection:
                    self._keys = read_primary_keys(connection)
        except BaseException:
            self._pool.close()
            raise

    def close(self) -> None:
        """Close all connections that are not in use. A second call does nothing.

        A running read or transaction keeps its connection until it ends.
        """
        self._pool.close()

    def fetch(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """Return the rows of a statement that only reads. Raises StoreError."""
        return self._read(lambda reader: reader.fetch(query, row, **params))

    def fetch_tuples(self, query: str, /, **params: object) -> list[tuple[Any, ...]]:
        """Return all rows of a statement that only reads as they are stored. Raises StoreError."""
        return self._read(lambda reader: reader.fetch_tuples(query, **params))

    def stream(
        self, query: str, /, *, at_once: int, **params: object
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a read-only statement as they are stored, in chunks of `at_once`.

        All chunks see the same state. Raises StoreError.
        """
        with self.snapshot() as reader:
            yield from reader.stream(query, at_once=at_once, **params)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Reader]:
        """Yield a reader whose reads all see the same state. Raises StoreError."""
        with (
            translate_errors(self.name, doing="snapshot"),
            self._pool.lent(begin=_SNAPSHOT) as connection,
        ):
            try:
                yield PostgresReader(connection, self._pool, name=self.name, queries=self._queries)
            finally:
                self._roll_back(connection)

    @contextlib.contextmanager
    def transaction(self, *, chain_id: int | None = None) -> Iterator[Transaction]:
        """Yield a write transaction: committed at the end of the block, rolled back on any
        exception.

        `chain_id`: it writes rows of this chain only. Raises StoreError, also when other writers
        take too long, and when this thread is in a transaction already.
        """
        if getattr(self._own, "is_writing", False):
            raise StoreError(path=self.name, reason="this thread is writing already")
        with (
            translate_errors(self.name, doing="transaction"),
            self._pool.begun(_WRITE) as (connection, number),
        ):
            self._own.is_writing = True
            try:
                self._take_turn(connection, chain_id)
                check_guard(connection)
                yield PostgresTransaction(
                    connection, self._pool, name=self.name, queries=self._queries, keys=self._keys
                )
                self._commit(connection, number)
            finally:
                self._own.is_writing = False
                self._roll_back(connection)

    def _read(self, read: Callable[[Reader], list[Any]]) -> list[Any]:
        """Read, and retry once if the server has ended an idle connection."""
        for is_last in (False, True):
            try:
                with (
                    translate_errors(self.name, doing="connect"),
                    self._pool.lent() as connection,
                ):
                    return read(
                        PostgresReader(
                            connection, self._pool, name=self.name, queries=self._queries
                        )
                    )
            except LostConnectionError:
                if is_last:
                    raise
                self._pool.drop_idle()
        raise AssertionError

    def _take_turn(self, connection: PostgresConnection, chain_id: int | None) -> None:
        with self._pool.watch.over(connection):
            if chain_id is None:
                connection.execute(self._lock_all)
                return
            cursor = RawCursor(connection)
            if cursor.execute(_LOCK_CHAIN, (chain_id,)).fetchone() is None:
                cursor.execute(_ADD_CHAIN, (chain_id,))
                cursor.execute(_LOCK_CHAIN, (chain_id,))

    def _commit(self, connection: PostgresConnection, number: str | None) -> None:
        """Commit. Without a response, query the outcome on another connection: a caller repeats a
        failed transaction."""
        try:
            with self._pool.watch.over(connection):
                connection.execute("commit")
        except psycopg.OperationalError as error:
            if not is_lost(error) and not isinstance(error, OverdueError):
                raise
            outcome = self._outcome(number)
            if outcome == "committed":
                return
            if outcome == "aborted":
                raise
            reason = f"whether a transaction was committed is not known: {_words_of(error)}"
            raise UnknownOutcomeError(
                path=self.name, reason=reason, ask=lambda: self._was_committed(number)
            ) from error

    def _was_committed(self, number: str | None) -> bool | None:
        outcome = self._outcome(number)
        return None if outcome is None else outcome == "committed"

    def _outcome(self, number: str | None) -> str | None:
        """Return `committed` or `aborted`, and end the transaction if it is still open. None: the
        server does not respond, or does not know."""
        until_s = time.monotonic() + self._lock_s
        self._pool.drop_idle()
        while time.monotonic() < until_s:
            with contextlib.suppress(psycopg.Error, StoreError), self._pool.lent() as connection:
                found = connection.execute(_OUTCOME, (number,)).fetchone()
                if found is None or found[0] != "in progress":
                    return None if found is None else found[0]
                connection.execute(_END, (number,))
            time.sleep(_ASK_EVERY_S)
        return None

    def _roll_back(self, connection: PostgresConnection) -> None:
        """Roll back; a connection that cannot is not used again."""
        if connection.info.transaction_status in _OPEN:
            with contextlib.suppress(psycopg.Error), self._pool.watch.over(connection):
                connection.execute("rollback")


class LostConnectionError(StoreError):
    """The server or the network ended the connection."""


@contextlib.contextmanager
def translate_errors(name: str, *, doing: str) -> Iterator[None]:
    """Translate errors of psycopg to StoreError, with the database and the action."""
    try:
        yield
    except psycopg.Error as error:
        kind = LostConnectionError if is_lost(error) else StoreError
        raise kind(path=name, reason=f"{doing}: {_words_of(error)}") from error
    except (OverflowError, UnicodeEncodeError) as error:
        raise StoreError(path=name, reason=f"{doing}: {error}") from error


def _words_of(error: psycopg.Error) -> str:
    if isinstance(error, errors.LockNotAvailable):
        return "another transaction has been writing for too long"
    return error.diag.message_primary or str(error).strip() or type(error).__name__


def _values(statement: NumberedStatement, params: Mapping[str, object]) -> list[object]:
    """Return the parameters in order; one engine's text may need fewer than the other's."""
    return [params[name] for name in statement.names]
