"""Leases: work that one process of a fleet does at a time, taken over when its holder is silent.

A row has the name of the work, its holder, and a token that rises with each holder. Times are those
of the server's clock. A transaction under a lease checks the token (`fenced_database.py`), so a
holder that was paused writes nothing once another process has taken over.

The check is a `for key share` lock: a take-over, `for update`, waits for it, and a renewal, which
changes no key, does not. So a long transaction does not cost the holder its lease.
"""

import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Final

import msgspec
from psycopg.raw_cursor import RawCursor

from core.errors import StoreError
from sql.engine.postgres.connection_limits import ConnectionLimits, PostgresConnection
from sql.engine.postgres.connection_pool import ConnectionPool
from sql.engine.postgres.postgres_database import translate_errors
from sql.engine.postgres.postgres_url import shown_url

LEASE_S: Final = 3.0
"""Seconds that a holder may be silent."""

CHECK: Final = "select 1 from lease where name = $1 and token = $2 for key share"
"""Finds a row if the token is the newest, and locks it until the transaction ends."""

_LIMITS = ConnectionLimits(
    connect_s=2.0, statement_s=1.0, silence_s=0.5, lock_s=0.8, idle_s=1.0, connections=1
)
"""Shorter than a lease: a slow statement is retried, not awaited."""

_WRITE = "begin isolation level read committed, read write"
_ADD = "insert into lease (name, token) values ($1, 0) on conflict do nothing"
_IS_FREE = "(expires_at is null or expires_at <= clock_timestamp())"
_FIND = f"select holder from lease where name = $1 and {_IS_FREE}"  # noqa: S608
_IS_KNOWN = "select 1 from lease where name = $1"
_LOCK = f"{_FIND} for update"
_UNTIL = "clock_timestamp() + $2 * interval '1 second'"
_TAKE = (
    f"update lease set expires_at = {_UNTIL}, holder = $3, token = token + 1"  # noqa: S608
    " where name = $1 returning token"
)
_RENEW = f"update lease set expires_at = {_UNTIL} where name = $1 and token = $3"  # noqa: S608
_GIVE_UP = "update lease set expires_at = null, holder = null where name = $1 and token = $2"
_END_SESSIONS = """
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = $1 and usename = current_user and datname = current_database()
"""

_LONGEST_HOST = 20
_LONGEST_SESSION = 63
"""Bytes that PostgreSQL keeps of an application name."""


class LeaseTerm(msgspec.Struct, frozen=True, kw_only=True):
    """The term of one holder of a lease."""

    name: str
    holder: str
    token: int

    @property
    def session(self) -> str:
        """Return the application name of connections that write under it."""
        return _session_of(self.name, self.holder)


class Leases:
    """The leases of a database. One thread at a time."""

    def __init__(self, url: str, *, lease_s: float = LEASE_S) -> None:
        """Prepare without connecting. `lease_s`: seconds that a holder may be silent. Raises
        StoreError for an invalid URL."""
        self.lease_s = lease_s
        self._name = shown_url(url)
        self._pool = ConnectionPool(url, name=self._name, limits=_LIMITS)

    def close(self) -> None:
        """Close the connection. A second call does nothing."""
        self._pool.close()

    def take(self, name: str) -> LeaseTerm | None:
        """Take a free lease. None: another process holds it.

        Sessions of the last holder are ended first: one that has stopped may still hold locks,
        which no time limit of the server covers within a batch. Raises StoreError.
        """
        with (
            translate_errors(self._name, doing=f"take {name}"),
            self._pool.lent() as connection,
            self._pool.watch.over(connection),
        ):
            cursor = RawCursor(connection)
            free = cursor.execute(_FIND, (name,)).fetchone()
            if free is None:
                if cursor.execute(_IS_KNOWN, (name,)).fetchone() is not None:
                    return None
            elif free[0] is not None:
                cursor.execute(_END_SESSIONS, (_session_of(name, str(free[0])),))
            return self._take_free(connection, name)

    def renew(self, term: LeaseTerm) -> bool:
        """Extend a lease. False: another process has taken it. Raises StoreError."""
        return self._change(term, _RENEW, (term.name, self.lease_s, term.token)) == 1

    def give_up(self, term: LeaseTerm) -> None:
        """Release a lease; its token stays the newest until it is taken again. Raises
        StoreError."""
        self._change(term, _GIVE_UP, (term.name, term.token))

    def _take_free(self, connection: PostgresConnection, name: str) -> LeaseTerm | None:
        holder = _new_holder()
        cursor = RawCursor(connection)
        try:
            cursor.execute(_WRITE)
            cursor.execute(_ADD, (name,))
            if cursor.execute(_LOCK, (name,)).fetchone() is None:
                return None
            taken = cursor.execute(_TAKE, (name, self.lease_s, holder)).fetchone()
            cursor.execute("commit")
        finally:
            # A lost connection has nothing left to end.
            if not connection.closed:
                connection.rollback()
        return None if taken is None else LeaseTerm(name=name, holder=holder, token=int(taken[0]))

    def _change(self, term: LeaseTerm, statement: str, values: tuple[object, ...]) -> int:
        with (
            translate_errors(self._name, doing=f"hold {term.name}"),
            self._pool.lent(begin=_WRITE) as connection,
            self._pool.watch.over(connection),
        ):
            cursor = RawCursor(connection)
            try:
                changed = cursor.execute(statement, values).rowcount
                cursor.execute("commit")
            finally:
                if not connection.closed:
                    connection.rollback()
        return changed


def _new_holder() -> str:
    """Return a unique holder name that identifies this process to people."""
    host = socket.gethostname()[-_LONGEST_HOST:]
    return f"{host}-{os.getpid()}-{secrets.token_hex(3)}"


def _session_of(name: str, holder: str) -> str:
    return f"assay {name} {holder}"[:_LONGEST_SESSION]


_LEASE_S: Final = 5.0
_LOOK_EVERY_S: Final = 0.1


@contextmanager
def hold_lease(
    url: str, name: str, *, doing: str, within_s: float, lease_s: float = _LEASE_S
) -> Iterator[LeaseTerm]:
    """Hold a lease; another process takes over once this one is silent for `lease_s`.

    `doing` completes "another process" in the error. `within_s`: seconds to wait for that process.
    The block goes on when the lease is lost: its writes have to check the token. Raises StoreError,
    also when another process still holds the lease.
    """
    with closing(Leases(url, lease_s=lease_s)) as leases:
        term = _taken(leases, url, name, doing=doing, within_s=within_s)
        ended = threading.Event()
        keeper = threading.Thread(
            target=_keep, args=(leases, term, ended), name="lease", daemon=True
        )
        keeper.start()
        try:
            yield term
        finally:
            ended.set()
            keeper.join()
            # It expires by itself, too.
            with suppress(StoreError):
                leases.give_up(term)


def _taken(leases: Leases, url: str, name: str, *, doing: str, within_s: float) -> LeaseTerm:
    until_s = time.monotonic() + within_s
    while (term := leases.take(name)) is None:
        if time.monotonic() >= until_s:
            raise StoreError(path=shown_url(url), reason=f"another process {doing}")
        time.sleep(_LOOK_EVERY_S)
    return term


def _keep(leases: Leases, term: LeaseTerm, ended: threading.Event) -> None:
    while not ended.wait(leases.lease_s / 3):
        # A server that is gone may be back before another process takes over.
        with suppress(StoreError):
            if not leases.renew(term):
                return
