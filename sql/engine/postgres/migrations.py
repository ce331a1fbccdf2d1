"""Numbered migrations of a PostgreSQL database, each applied once by the first process."""

from psycopg.sql import SQL, Composed, Identifier

from core.errors import StoreError
from sql.engine.database_layout import DatabaseLayout
from sql.engine.postgres.connection_limits import PostgresConnection
from sql.engine.statements import load_migrations

MOVE_NOTE = "store_move"
"""Table that exists while a store is being moved into the database."""

_LOCK = "select pg_advisory_xact_lock(hashtext('assay migration'))"
"""Ends with the transaction, so an external pooler cannot leave it behind."""

_VERSIONS = "create table if not exists {} (version bigint primary key)"
_IS_THERE = "select to_regclass({}) is not null"
_VERSION = "select coalesce(max(version), 0) from {}"
_MADE = "insert into {} values ({})"
_KEYS = """
    select of_table.relname, array_agg(part.attname::text order by place.ordinal)
    from pg_index as found
    join pg_class as of_table on of_table.oid = found.indrelid
    cross join unnest(found.indkey) with ordinality as place (number, ordinal)
    join pg_attribute as part on part.attrelid = found.indrelid and part.attnum = place.number
    where found.indisprimary and of_table.relnamespace = current_schema()::regnamespace
    group by of_table.relname
"""


def migrate(
    connection: PostgresConnection,
    layout: DatabaseLayout,
    *,
    name: str,
    must_exist: bool = False,
    may_be_moving: bool = False,
) -> None:
    """Bring the database to the newest schema, in one transaction.

    `name`: of the database in errors. Raises StoreError if it is not in UTF-8, if a newer release
    wrote it, if it has no tables and `must_exist`, and if a store is being moved into it unless
    `may_be_moving`. Raises the errors of psycopg.
    """
    versions = Identifier(layout.versions)
    version_query = SQL(_VERSION).format(versions)
    encoding = _value(connection, SQL("show server_encoding"))
    if encoding != "UTF8":
        raise StoreError(path=name, reason=f"its encoding is {encoding}; it has to be UTF8")
    if not may_be_moving and _value(connection, SQL(_IS_THERE).format(MOVE_NOTE)):
        reason = "a store is being moved into it; run `assay move-store` again to the end"
        raise StoreError(path=name, reason=reason)
    known = load_migrations(layout.schema)
    is_there = _value(connection, SQL(_IS_THERE).format(layout.versions))
    if is_there and _value(connection, version_query) == len(known):
        return  # without waiting for the writer
    if must_exist and not is_there:
        raise StoreError(path=name, reason="there is no such store")
    with connection.transaction():
        connection.execute("set transaction read write")
        connection.execute("set local statement_timeout = 0")
        connection.execute("set local lock_timeout = 0")
        connection.execute(_LOCK)
        connection.execute(SQL(_VERSIONS).format(versions))
        version = int(str(_value(connection, version_query)))
        if version > len(known):
            reason = f"a newer release wrote it (schema {version}; this one knows {len(known)})"
            raise StoreError(path=name, reason=reason)
        for migration in known[version:]:
            connection.execute(migration.text)
            connection.execute(SQL(_MADE).format(versions, migration.version))


def read_primary_keys(connection: PostgresConnection) -> dict[str, tuple[str, ...]]:
    """Return the columns of each table's primary key, in order."""
    return {table: tuple(columns) for table, columns in connection.execute(_KEYS).fetchall()}


def _value(connection: PostgresConnection, query: SQL | Composed) -> object:
    row = connection.execute(query).fetchone()
    return None if row is None else row[0]
