"""Single-statement transactions that take no chain's lock.

No other transaction bases its writes on the rows that they write.
"""

from pathlib import Path
from typing import TypeVar

import msgspec
from psycopg.raw_cursor import RawCursor

from sql.engine.columns import decode
from sql.engine.postgres.connection_limits import ConnectionLimits
from sql.engine.postgres.connection_pool import ConnectionPool
from sql.engine.postgres.postgres_database import translate_errors
from sql.engine.postgres.postgres_url import shown_url
from sql.engine.postgres.statement_text import load_numbered
from sql.engine.statements import Queries

T = TypeVar("T", bound=msgspec.Struct)

_HERE = Path(__file__).parent
FLEET_QUERIES: Queries = (_HERE, _HERE.parents[1] / "fleet")

COORDINATION_LIMITS = ConnectionLimits(
    connect_s=2.0, statement_s=3.0, silence_s=2.0, lock_s=2.0, idle_s=3.0, connections=8
)
"""Limits of coordination, whose failure must show quickly."""

_WRITE = "begin isolation level read committed, read write"


class SingleStatements:
    """Runner of single statements on one database. Thread-safe."""

    def __init__(self, url: str, *, limits: ConnectionLimits = COORDINATION_LIMITS) -> None:
        """Use the migrated database at `url`. Raises StoreError for an invalid URL."""
        self.name = shown_url(url)
        self._pool = ConnectionPool(url, name=self.name, limits=limits)

    def close(self) -> None:
        """Close all connections that are not in use. A second call does nothing."""
        self._pool.close()

    def run(self, query: str, row: type[T], /, **params: object) -> list[T]:
        """Run a statement and commit; return its rows as structs. Raises StoreError, also if the
        outcome of the commit is unknown."""
        statement = load_numbered(query, FLEET_QUERIES)
        values = [params[name] for name in statement.names]
        with (
            translate_errors(self.name, doing=query),
            self._pool.lent(begin=_WRITE) as connection,
            self._pool.watch.over(connection),
        ):
            cursor = RawCursor(connection)
            cursor.execute(statement.text, values, binary=True)
            names = [column.name for column in cursor.description or ()]
            rows = cursor.fetchall() if names else []
            connection.execute("commit")
        return decode(names, rows, row) if names else []
