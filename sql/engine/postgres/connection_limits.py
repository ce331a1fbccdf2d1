"""Time limits of connections: the server's, and the client's for an unresponsive server."""

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import psycopg
from psycopg import Connection

PostgresConnection = Connection[tuple[Any, ...]]


class ConnectionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Time limits in seconds, and the limit of connections."""

    connect_s: float = 5.0
    statement_s: float = 30.0
    """Limit of one statement, enforced by the server."""
    silence_s: float = 10.0
    """Further wait for the server's response; then the connection is closed."""
    lock_s: float = 6.0
    """Wait for another transaction to end."""
    idle_s: float = 60.0
    """Pause between two statements of a transaction; the server then rolls it back."""
    connections: int = 16


AWAITED_LIMITS = ConnectionLimits(connect_s=2.0, statement_s=4.0, silence_s=2.0, lock_s=4.0)
"""Limits of statements that a caller waits for: all are short, and an outage must show quickly."""


class OverdueError(psycopg.OperationalError):
    """The server did not answer in time."""


class StatementWatch:
    """Thread that ends connections with an overdue statement.

    A server behind a broken link neither responds nor closes the connection: the client would wait
    until the kernel gives up, or for ever if a proxy keeps the link up.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self._longest_s = limits.statement_s + limits.silence_s
        self._running: dict[PostgresConnection, float] = {}
        self._overdue: set[PostgresConnection] = set()
        self._lock = threading.Lock()
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._look, name="postgres-watch", daemon=True)
        self._thread.start()

    @contextlib.contextmanager
    def over(self, connection: PostgresConnection) -> Iterator[None]:
        """Watch the statements of a block, which count as one. Raises OverdueError.

        A nested block has no effect.
        """
        if connection in self._running:
            yield
            return
        with self._lock:
            self._running[connection] = time.monotonic() + self._longest_s
        try:
            yield
        except psycopg.Error as error:
            if connection in self._overdue:
                message = f"no answer within {self._longest_s:g} s"
                raise OverdueError(message) from error
            raise
        finally:
            with self._lock:
                del self._running[connection]
                self._overdue.discard(connection)

    def close(self) -> None:
        """End the thread once no statement runs. A second call does nothing."""
        self._is_closing.set()
        if not self._running:
            self._thread.join()

    def _look(self) -> None:
        step_s = min(1.0, self._longest_s / 4)
        while not self._is_closing.wait(step_s):
            self._end_overdue()
        while self._running:
            self._end_overdue()
            time.sleep(step_s)

    def _end_overdue(self) -> None:
        now_s = time.monotonic()
        with self._lock:
            for connection, until_s in self._running.items():
                if now_s > until_s:
                    self._overdue.add(connection)
                    _shut(connection)


def _shut(connection: PostgresConnection) -> None:
    """Shut down both directions of the socket, which wakes the waiting thread."""
    # A connection that has ended in the meantime has no socket.
    with (
        contextlib.suppress(OSError, psycopg.OperationalError),
        socket.socket(fileno=os.dup(connection.fileno())) as link,
    ):
        link.shutdown(socket.SHUT_RDWR)
