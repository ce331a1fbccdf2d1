"""PostgreSQL database that is written under a lease, while this process holds it."""

from psycopg.raw_cursor import RawCursor

from core.errors import StoreError
from sql.engine.database_layout import DatabaseLayout
from sql.engine.postgres.connection_limits import ConnectionLimits, PostgresConnection
from sql.engine.postgres.leases import CHECK, LeaseTerm
from sql.engine.postgres.postgres_database import PostgresDatabase

FENCED_LIMITS = ConnectionLimits(idle_s=1.0, connections=8)
"""Limits of a lease holder: one that stops within a transaction must not keep its locks."""


class LostLeaseError(StoreError):
    """Another process has taken over the lease."""


class FencedDatabase(PostgresDatabase):
    """Database whose write transactions check a lease first. Thread-safe.

    No other process takes the lease before the transaction ends. A transaction raises
    LostLeaseError once another process has taken it.
    """

    def __init__(
        self,
        url: str,
        term: LeaseTerm,
        layout: DatabaseLayout,
        *,
        limits: ConnectionLimits = FENCED_LIMITS,
    ) -> None:
        """Connect in sessions that are ended when another process takes the lease. Raises
        StoreError."""
        self._term = term
        super().__init__(url, layout, limits=limits, session=term.session)

    def _take_turn(self, connection: PostgresConnection, chain_id: int | None) -> None:
        super()._take_turn(connection, chain_id)
        term = self._term
        with self._pool.watch.over(connection):
            found = RawCursor(connection).execute(CHECK, (term.name, term.token)).fetchone()
        if found is None:
            reason = f"another process has taken over: {term.name}"
            raise LostLeaseError(path=self.name, reason=reason)
