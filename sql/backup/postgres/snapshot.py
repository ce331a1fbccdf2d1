"""Database snapshot that several connections share, with a lake's files in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec
import psycopg
from psycopg.sql import SQL, Identifier

from sql.engine.postgres.connection_limits import PostgresConnection
from sql.engine.postgres.postgres_database import translate_errors
from sql.engine.postgres.postgres_url import shown_url

_BEGIN: Final = "begin isolation level repeatable read, read only"
_FILES: Final = """
    with folder as (
        select distinct on (tab.table_id) tab.table_id,
            case when tab.path_is_relative then sch.path else '' end || tab.path as path
        from {lake}.ducklake_table tab
        join {lake}.ducklake_schema sch on sch.schema_id = tab.schema_id
        order by tab.table_id, tab.begin_snapshot desc
    )
    select case when file.path_is_relative then folder.path else '' end || file.path,
        file.file_size_bytes
    from (
        select table_id, path, path_is_relative, file_size_bytes from {lake}.ducklake_data_file
        union
        select table_id, path, path_is_relative, file_size_bytes from {lake}.ducklake_delete_file
    ) as file
    join folder on folder.table_id = file.table_id
    order by 1
"""


class LakeFile(msgspec.Struct, frozen=True):
    """A Parquet file in a catalogue."""

    name: str
    """Path below the lake's place."""
    size: int
    """Bytes."""


class Snapshot:
    """A state of the database, kept while its transaction is open."""

    def __init__(self, connection: PostgresConnection, exported: str) -> None:
        self._connection = connection
        self.exported = exported
        """Name for other connections."""

    def list_files(self, lake_schema: str) -> list[LakeFile]:
        """Return the files of all readable snapshots of a lake."""
        query = SQL(_FILES).format(lake=Identifier(lake_schema))
        return [LakeFile(*row) for row in self._connection.execute(query).fetchall()]

    def has_table(self, name: str) -> bool:
        """True if a table is on the connection's search path."""
        found = self._connection.execute("select to_regclass(%s) is not null", (name,)).fetchone()
        return found == (True,)


@contextmanager
def keep_snapshot(url: str) -> Iterator[Snapshot]:
    """Pin the current state of a database until the end of the block. Raises StoreError."""
    name = shown_url(url)
    with (
        translate_errors(name, doing="back up"),
        psycopg.connect(
            url, autocommit=True, connect_timeout=5, application_name="assay backup"
        ) as connection,
    ):
        connection.execute("set idle_in_transaction_session_timeout = 0")
        connection.execute(_BEGIN)
        (exported,) = connection.execute("select pg_export_snapshot()").fetchone() or ("",)
        yield Snapshot(connection, str(exported))
