"""A store whose serving state is in a PostgreSQL database."""

from pathlib import Path

from sql.postgres.connection_limits import ConnectionLimits
from sql.postgres.postgres_database import PostgresDatabase
from sql.statements import QUERIES
from sql.store import Store

SCHEMA = Path(__file__).parent / "schema"


def connect_store(url: str, *, path: Path, limits: ConnectionLimits | None = None) -> Store:
    """Open the store in the database at a postgresql:// URL, migrated to the newest schema.

    `path`: what the names of the files beside it begin with. Raises StoreError.
    """
    return Store(path, PostgresDatabase(url, schema=SCHEMA, queries=QUERIES, limits=limits))
