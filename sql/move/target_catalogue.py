"""Copy of a DuckLake catalogue from SQLite to PostgreSQL.

Both have the same tables; DuckLake creates those in PostgreSQL, and DuckDB casts each value to the
type of its column there.
"""

from contextlib import closing
from pathlib import Path
from typing import Final

import duckdb
import psycopg
from psycopg.sql import SQL, Identifier

from core.errors import StoreError
from sql.engine.postgres.postgres_database import translate_errors
from sql.engine.postgres.postgres_url import shown_url
from sql.lake.extensions import extension_paths, sql_text
from sql.lake.lake_file import connect_duckdb
from sql.lake.postgres.lake_catalogue import find_catalogue, make_schema
from sql.lake.postgres.lake_in_postgres import DatabasePlace

_MEMORY_MB: Final = 500
_INLINED: Final = "ducklake_inlined_"
"""Prefix of the tables of inlined rows, and of the list of these tables."""

_LEFT_OUT: Final = frozenset({"ducklake_files_scheduled_for_deletion"})
"""Table of unreferenced files, which are not moved."""

_TABLES: Final = "select table_name from duckdb_tables() where database_name = $database order by 1"
_COLUMNS: Final = (
    "select column_name, data_type from duckdb_columns()"
    " where database_name = $database and table_name = $table order by column_index"
)


def fill_catalogue(place: DatabasePlace, url: str, staged: Path) -> None:
    """Create the catalogue of a lake in one transaction, replacing that of an earlier run.

    `url`: of the database. `staged`: a SQLite catalogue without inlined rows. Raises StoreError.
    """
    _drop_catalogue(url)
    try:
        with closing(connect_duckdb(memory_mb=_MEMORY_MB, spill=None, place=place)) as connection:
            connection.execute(place.attach_lake(is_read_only=False))
            connection.execute("detach lake")
            connection.execute(f"load {sql_text(extension_paths()[0])}")
            connection.execute("set sqlite_all_varchar = true")
            connection.execute(f"attach {sql_text(staged)} as source (type sqlite, read_only)")
            connection.execute(place.attach_catalogue())
            connection.begin()
            _copy_tables(connection, place)
            connection.commit()
    except duckdb.Error as error:
        # The original message may repeat the password.
        raise StoreError(path=place.name, reason=place.masked(str(error))) from None


def _drop_catalogue(url: str) -> None:
    catalogue = find_catalogue(url)
    with (
        translate_errors(shown_url(url), doing="make the catalogue"),
        psycopg.connect(url, autocommit=True, connect_timeout=5) as connection,
    ):
        schema = Identifier(catalogue.lake)
        connection.execute(SQL("drop schema if exists {} cascade").format(schema))
    make_schema(url, catalogue)


def _copy_tables(connection: duckdb.DuckDBPyConnection, place: DatabasePlace) -> None:
    wanted, found = (
        {
            str(name)
            for (name,) in connection.execute(_TABLES, {"database": database}).fetchall()
            if not str(name).startswith(_INLINED)
        }
        for database in ("source", "catalogue")
    )
    if wanted != found:
        different = ", ".join(sorted(wanted ^ found))
        reason = f"the catalogues have different tables: {different}"
        raise StoreError(path=place.name, reason=reason)
    for table in sorted(found - _LEFT_OUT):
        columns = connection.execute(_COLUMNS, {"database": "catalogue", "table": table}).fetchall()
        names = ", ".join(f'"{name}"' for name, _ in columns)
        values = ", ".join(f'"{name}"::{kind}' for name, kind in columns)
        # Names and types come from DuckLake.
        connection.execute(f"delete from catalogue.{table}")  # noqa: S608
        connection.execute(
            f"insert into catalogue.{table} ({names}) select {values} from source.{table}"  # noqa: S608
        )
    # The listed tables of inlined rows do not exist here.
    connection.execute("delete from catalogue.ducklake_inlined_data_tables")
    connection.execute(
        "update catalogue.ducklake_metadata set value = $folder where key = 'data_path'",
        {"folder": place.data_folder()},
    )
