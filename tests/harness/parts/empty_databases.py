"""Stores and ledgers in PostgreSQL databases, emptied and used again: that is quicker."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Composed, Identifier

from config.store_address import PostgresAddress
from core.process.secret import Secret
from sql.accounts.ledger import LEDGER
from sql.engine.postgres.connection_limits import ConnectionLimits
from sql.engine.postgres.postgres_database import PostgresDatabase
from sql.engine.store import SERVING, Store
from tests.harness.parts.postgres_server import PostgresServer


def address_of(url: str, *, path: Path = Path("files")) -> PostgresAddress:
    """Return the address of the store at a URL. `path`: prefix of its local files."""
    return PostgresAddress(url=Secret(url), lake=f"{path}.lake", prefix=path)


def connect_store(url: str, *, path: Path, limits: ConnectionLimits | None = None) -> Store:
    """Open the store at a postgresql:// URL, migrated to the newest schema. Raises StoreError."""
    return Store(address_of(url, path=path), PostgresDatabase(url, SERVING, limits=limits))


_KEPT = (
    *("schema_version", "store_identity", "import_progress", "watch_revision"),
    *("ledger_version", "key_revision"),
)
_TABLES = "select tablename from pg_tables where schemaname = current_schema()"
_SEQUENCES = "select sequencename from pg_sequences where schemaname = current_schema()"

_Connection = psycopg.Connection[tuple[Any, ...]]


class EmptyDatabases:
    """Databases of one server, each with the empty schema when it is lent. One thread at a time."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._free: list[tuple[str, _Connection, Composed]] = []
        self._count = 0

    def close(self) -> None:
        """Close the connections that are held."""
        for _, connection, _ in self._free:
            connection.close()

    @contextmanager
    def lent(self) -> Iterator[str]:
        """Yield the URL of a database for exclusive use."""
        url, connection, emptying = self._free.pop() if self._free else self._create()
        try:
            yield url
        finally:
            connection.execute(emptying)
            self._free.append((url, connection, emptying))

    @contextmanager
    def store(self, path: Path, *, limits: ConnectionLimits | None = None) -> Iterator[Store]:
        """Open an empty store. `path`: where its files would be."""
        with self.lent() as url, closing(connect_store(url, path=path, limits=limits)) as store:
            yield store

    def create_bare(self) -> str:
        """Create a database without any table; return its URL."""
        self._count += 1
        name = f"assay_{self._count}"
        with psycopg.connect(self._server.url(), autocommit=True) as admin:
            admin.execute(SQL("create database {}").format(Identifier(name)))
        return self._server.url(name)

    def _create(self) -> tuple[str, _Connection, Composed]:
        url = self.create_bare()
        connect_store(url, path=Path()).close()
        PostgresDatabase(url, LEDGER).close()
        connection = psycopg.connect(url, autocommit=True)
        # Neither references nor triggers: all tables are emptied.
        connection.execute("set session_replication_role = replica")
        return url, connection, _emptying(connection)


def _emptying(connection: _Connection) -> Composed:
    """Return the statements that take a database back to how a migration leaves it."""
    tables = {str(row[0]) for row in connection.execute(_TABLES)} - set(_KEPT)
    sequences = sorted(str(row[0]) for row in connection.execute(_SEQUENCES))
    return SQL("").join(
        [
            *(SQL("delete from {};").format(Identifier(table)) for table in sorted(tables)),
            *(
                SQL("alter sequence {} restart;").format(Identifier(sequence))
                for sequence in sequences
            ),
            SQL("update watch_revision set revision = 0;"),
            SQL("update key_revision set revision = 0;"),
            SQL("update import_progress set done = 0 where step = 'search_until';"),
            SQL("delete from import_progress where step <> 'search_until'"),
        ]
    )
