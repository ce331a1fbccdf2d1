"""Leases of a store in PostgreSQL, and a store that is written under a lease."""

from typing import TYPE_CHECKING

from config.store_address import PostgresAddress
from core.errors import MissingExtraError
from sql.engine.database import Database
from sql.engine.store import SERVING, Store

if TYPE_CHECKING:
    from sql.engine.postgres.leases import Leases, LeaseTerm


def open_leases(address: PostgresAddress) -> "Leases":
    """Return the leases of the store, for one thread at a time, without connecting.

    Raises MissingExtraError if the driver is not installed.
    """
    try:
        from sql.engine.postgres.leases import Leases  # noqa: PLC0415 - of an extra
    except ImportError as error:
        raise MissingExtraError(extra="fleet", package="psycopg") from error
    return Leases(address.url.value)


class FencedStore(Store):
    """Store that is written under a lease.

    Transactions raise LostLeaseError once another process has taken the lease.
    """

    def __init__(self, address: PostgresAddress, database: Database, term: "LeaseTerm") -> None:
        super().__init__(address, database)
        self.term = term


def open_fenced(address: PostgresAddress, term: "LeaseTerm") -> FencedStore:
    """Open the store for the holder of a lease. Raises StoreError."""
    from sql.engine.postgres.fenced_database import FencedDatabase  # noqa: PLC0415 - of an extra

    return FencedStore(address, FencedDatabase(address.url.value, term, SERVING), term)
