"""Schema of a PostgreSQL database: numbered migrations, each once, whoever comes first."""

from pathlib import Path
from typing import LiteralString

from core.errors import StoreError
from sql.postgres.connection_limits import PostgresConnection
from sql.statements import load_migrations

_LOCK = "select pg_advisory_xact_lock(hashtext('assay migration'))"
"""Ends with the transaction, so it is not left behind by a pooler in between."""

_VERSIONS = "create table if not exists schema_version (version bigint primary key)"
_IS_THERE = "select to_regclass('schema_version') is not null"
_VERSION = "select coalesce(max(version), 0) from schema_version"
_KEYS = """
    select of_table.relname, array_agg(part.attname::text order by place.ordinal)
    from pg_index as found
    join pg_class as of_table on of_table.oid = found.indrelid
    cross join unnest(found.indkey) with ordinality as place (number, ordinal)
    join pg_attribute as part on part.attrelid = found.indrelid and part.attnum = place.number
    where found.indisprimary and of_table.relnamespace = current_schema()::regnamespace
    group by of_table.relname
"""


def migrate(connection: PostgresConnection, schema: Path, *, name: str) -> None:
    """Bring the database to the newest schema, in one transaction.

    `name`: how errors call the database. Raises StoreError for one that is not in UTF-8 or that a
    newer release wrote, and what psycopg raises.
    """
    encoding = _value(connection, "show server_encoding")
    if encoding != "UTF8":
        raise StoreError(path=name, reason=f"its encoding is {encoding}; it has to be UTF8")
    known = load_migrations(schema)
    if _value(connection, _IS_THERE) and _value(connection, _VERSION) == len(known):
        return  # without a wait for whoever is writing
    with connection.transaction():
        connection.execute("set transaction read write")
        connection.execute("set local statement_timeout = 0")
        connection.execute("set local lock_timeout = 0")
        connection.execute(_LOCK)
        connection.execute(_VERSIONS)
        version = int(str(_value(connection, _VERSION)))
        if version > len(known):
            reason = f"a newer release wrote it (schema {version}; this one knows {len(known)})"
            raise StoreError(path=name, reason=reason)
        for migration in known[version:]:
            connection.execute(migration.text)
            connection.execute("insert into schema_version values (%s)", (migration.version,))


def read_primary_keys(connection: PostgresConnection) -> dict[str, tuple[str, ...]]:
    """Return the columns of each table's primary key, in order."""
    return {table: tuple(columns) for table, columns in connection.execute(_KEYS).fetchall()}


def _value(connection: PostgresConnection, query: LiteralString) -> object:
    row = connection.execute(query).fetchone()
    return None if row is None else row[0]
