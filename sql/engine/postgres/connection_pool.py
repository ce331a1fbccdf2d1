"""Connection pool of one PostgreSQL database."""

import contextlib
import threading
from collections.abc import Iterator

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumperUnknown

from core.errors import StoreError
from sql.engine.postgres.connection_limits import (
    ConnectionLimits,
    OverdueError,
    PostgresConnection,
    StatementWatch,
)

_STATEMENTS_KEPT = 512
"""Prepared statements kept by a connection."""


class _TextDumper(StrDumperUnknown):
    """Dumper of texts as untyped literals without NUL.

    A token's name can contain NUL, a text in PostgreSQL cannot. Reports are stored as bytes.
    """

    def dump(self, obj: str) -> bytes:
        return obj.encode().replace(b"\0", b"")


def is_lost(error: psycopg.Error) -> bool:
    """True if an error means that the server or the network has ended the connection."""
    if isinstance(error, OverdueError):
        return False
    has_gone = isinstance(error, errors.AdminShutdown | errors.CrashShutdown)
    return has_gone or (isinstance(error, psycopg.OperationalError) and error.sqlstate is None)


class ConnectionPool:
    """Pool of connections. Thread-safe; the connection used last is lent first."""

    def __init__(
        self, url: str, *, name: str, limits: ConnectionLimits, session: str = "assay"
    ) -> None:
        """Create an empty pool. `name`: of the database in errors. `session`: application name of
        the connections."""
        self._url = url
        self._session = session
        self._name = name
        self._limits = limits
        self._idle: list[PostgresConnection] = []
        self._lock = threading.Lock()
        self._free = threading.Semaphore(limits.connections)
        self._is_closed = False
        self.watch = StatementWatch(limits)

    def close(self) -> None:
        """Close idle connections now and the others when they are returned. A second call does
        nothing."""
        with self._lock:
            self._is_closed = True
        self.drop_idle()
        self.watch.close()

    @contextlib.contextmanager
    def lent(self, *, begin: str = "") -> Iterator[PostgresConnection]:
        """Yield a connection on which the statement `begin` has run.

        An idle connection that the server has ended is replaced if `begin` fails on it. Raises
        StoreError, and the errors of psycopg.
        """
        with self.begun(begin) as (connection, _):
            yield connection

    @contextlib.contextmanager
    def begun(self, begin: str) -> Iterator[tuple[PostgresConnection, str | None]]:
        """Yield a connection like `lent`, and the result of the last statement of `begin`."""
        if not self._free.acquire(timeout=self._limits.lock_s):
            reason = f"all {self._limits.connections} connections are in use"
            raise StoreError(path=self._name, reason=reason)
        try:
            connection, found = self._begun(begin)
            try:
                yield connection, found
            finally:
                self._take_back(connection)
        finally:
            self._free.release()

    def drop_idle(self) -> None:
        """Close the idle connections after the server has gone."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take_back(self, connection: PostgresConnection) -> None:
        """Return a connection to the pool, or close it if something is still open on it."""
        is_whole = connection.info.transaction_status == TransactionStatus.IDLE
        with self._lock:
            if is_whole and not self._is_closed:
                self._idle.append(connection)
                return
        connection.close()

    def _begun(self, begin: str) -> tuple[PostgresConnection, str | None]:
        """Return a connection on which `begin` has run, an idle one if it still responds."""
        while (connection := self._take_idle()) is not None:
            try:
                found = self._run(connection, begin)
            except psycopg.OperationalError as error:
                connection.close()
                if not is_lost(error):
                    raise
            else:
                return connection, found
        connection = self._connect()
        try:
            found = self._run(connection, begin)
        except BaseException:
            connection.close()
            raise
        return connection, found

    def _take_idle(self) -> PostgresConnection | None:
        with self._lock:
            if self._is_closed:
                raise StoreError(path=self._name, reason="it has been closed")
            return self._idle.pop() if self._idle else None

    def _run(self, connection: PostgresConnection, statement: str) -> str | None:
        if not statement:
            return None
        with self.watch.over(connection):
            cursor = connection.execute(statement)
        while cursor.nextset():
            pass
        row = cursor.fetchone() if cursor.description else None
        return None if row is None else str(row[0])

    def _connect(self) -> PostgresConnection:
        limits = self._limits
        connection = psycopg.connect(
            self._url,
            autocommit=True,
            prepare_threshold=2,
            connect_timeout=max(1, round(limits.connect_s)),
            application_name=self._session,
            keepalives_idle=2,
            keepalives_interval=1,
            keepalives_count=2,
            tcp_user_timeout=round(1e3 * limits.silence_s),
        )
        connection.prepared_max = _STATEMENTS_KEPT
        connection.adapters.register_dumper(int, Int8Dumper)
        connection.adapters.register_dumper(str, _TextDumper)
        settings = {
            "statement_timeout": limits.statement_s,
            "lock_timeout": limits.lock_s,
            "idle_in_transaction_session_timeout": limits.idle_s,
        }
        try:
            with self.watch.over(connection):
                for setting, seconds in settings.items():
                    connection.execute(f"set {setting} = {round(1e3 * seconds)}")
                connection.execute("set default_transaction_read_only = on")
        except BaseException:
            connection.close()
            raise
        return connection
