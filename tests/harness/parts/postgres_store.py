"""Stores in a PostgreSQL database at a URL, with time limits of a test's own."""

from pathlib import Path

from config.store_address import PostgresAddress
from core.process.secret import Secret
from sql.engine.postgres.connection_limits import ConnectionLimits
from sql.engine.postgres.postgres_database import PostgresDatabase
from sql.engine.store import SERVING, Store


def address_of(url: str, *, path: Path = Path("files")) -> PostgresAddress:
    """Return the address of the store at a URL. `path`: prefix of its local files."""
    return PostgresAddress(url=Secret(url), lake=f"{path}.lake", prefix=path)


def connect_store(url: str, *, path: Path, limits: ConnectionLimits | None = None) -> Store:
    """Open the store at a postgresql:// URL, migrated to the newest schema. Raises StoreError."""
    return Store(address_of(url, path=path), PostgresDatabase(url, SERVING, limits=limits))
