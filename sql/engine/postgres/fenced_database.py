"""A PostgreSQL database as the holder of a lease writes it: for as long as the lease is its own."""

from psycopg.raw_cursor import RawCursor

from core.errors import StoreError
from sql.engine.database_layout import DatabaseLayout
from sql.engine.postgres.connection_limits import ConnectionLimits, PostgresConnection
from sql.engine.postgres.leases import CHECK, LeaseTerm
from sql.engine.postgres.postgres_database import PostgresDatabase

FENCED_LIMITS = ConnectionLimits(idle_s=1.0, connections=8)
"""A holder that stops in the midst of a transaction must not keep its locks."""


class LostLeaseError(StoreError):
    """Another process has taken over."""


class FencedDatabase(PostgresDatabase):
    """Thread-safe. Reads are as ever; a write transaction begins with a check of the lease, and
    nobody takes over before it ends. It raises LostLeaseError once somebody has."""

    def __init__(
        self,
        url: str,
        term: LeaseTerm,
        layout: DatabaseLayout,
        *,
        limits: ConnectionLimits = FENCED_LIMITS,
    ) -> None:
        """Connect in sessions that a take-over ends. Raises StoreError."""
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
