"""Connections to a store in PostgreSQL, whose driver comes with the extra `fleet`."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from config.store_address import PostgresAddress
from core.errors import MissingExtraError, StoreError
from sql.engine.database import Database
from sql.engine.database_layout import DatabaseLayout

if TYPE_CHECKING:
    from sql.engine.postgres.chain_registry import ChainRegistry


def connect(
    address: PostgresAddress,
    layout: DatabaseLayout,
    *,
    must_exist: bool = False,
    is_awaited: bool = False,
) -> Database:
    """Connect to the database at an address, and migrate the tables of a layout.

    `must_exist`: create nothing. `is_awaited`: callers wait for each statement, so none may take
    more than seconds. Raises StoreError, and MissingExtraError if the driver is not installed.
    """
    try:
        from sql.engine.postgres.connection_limits import AWAITED_LIMITS  # noqa: PLC0415 - of an extra
        from sql.engine.postgres.postgres_database import PostgresDatabase  # noqa: PLC0415 - of an extra
    except ImportError as error:
        raise MissingExtraError(extra="fleet", package="psycopg") from error
    limits = AWAITED_LIMITS if is_awaited else None
    return PostgresDatabase(address.url.value, layout, limits=limits, must_exist=must_exist)


@contextmanager
def open_registry(address: PostgresAddress) -> Iterator["ChainRegistry"]:
    """Yield the chain registry of a migrated database. Raises StoreError."""
    from sql.engine.postgres.chain_registry import ChainRegistry  # noqa: PLC0415 - of an extra
    from sql.engine.postgres.single_statements import SingleStatements  # noqa: PLC0415

    with closing(SingleStatements(address.url.value)) as statements:
        yield ChainRegistry(statements)


def make_local_folder(address: PostgresAddress) -> None:
    """Create the folder for this machine's files of the store, accessible to this user only.

    Raises StoreError, also if another user owns it: names of locks are predictable.
    """
    folder = address.prefix.absolute().parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = folder.lstat().st_uid
    except OSError as error:
        raise StoreError(path=str(folder), reason=str(error)) from error
    if owner != os.getuid():
        raise StoreError(path=str(folder), reason="it belongs to another user")
