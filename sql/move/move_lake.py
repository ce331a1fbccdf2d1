"""Move of a lake in files: Parquet files are copied unchanged, the catalogue moves to PostgreSQL.

After an interruption the next run continues: a file with the same content stays, and the catalogue
is created again. The source does not change; the move works on a copy of its catalogue. Both
catalogues have the same tables: DuckLake creates those in PostgreSQL, and DuckDB casts each value.
"""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import duckdb
import msgspec
import psycopg
from psycopg.sql import SQL, Identifier

from config.store_address import FileAddress, PostgresAddress
from core.errors import StoreError
from sql.backup.file_copies import open_copies
from sql.backup.postgres.snapshot import LakeFile
from sql.backup.sqlite_copy import copy_sqlite
from sql.engine.fleet_database import make_local_folder
from sql.engine.postgres.postgres_database import translate_errors
from sql.engine.postgres.postgres_url import shown_url
from sql.engine.store_files import StoreFiles
from sql.lake.extensions import extension_paths, sql_text
from sql.lake.find_place import place_of
from sql.lake.lake_file import MEMORY_MB, Lake, connect_duckdb
from sql.lake.lake_place import FilePlace, LakePlace
from sql.lake.lake_statements import load_lake_statement
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


_FILES: Final = """
    with folder as (
        select tab.table_id,
            case when tab.path_is_relative then sch.path else '' end || tab.path as path
        from ducklake_table tab
        join ducklake_schema sch on sch.schema_id = tab.schema_id
        group by tab.table_id having tab.begin_snapshot = max(tab.begin_snapshot)
    )
    select case when file.path_is_relative then folder.path else '' end || file.path as name,
        file.file_size_bytes
    from (
        select table_id, path, path_is_relative, file_size_bytes from ducklake_data_file
        union
        select table_id, path, path_is_relative, file_size_bytes from ducklake_delete_file
    ) as file
    join folder on folder.table_id = file.table_id
    order by name
"""


class StagedCatalogue(msgspec.Struct, frozen=True, kw_only=True):
    """A copy of a catalogue, with the files written for it."""

    path: Path
    data: Path
    """Folder of the files that only this copy has; all others are the lake's."""

    def list_files(self) -> list[LakeFile]:
        """Return the files of all readable snapshots. Raises StoreError."""
        try:
            with closing(sqlite3.connect(self.path)) as connection:
                return [LakeFile(*row) for row in connection.execute(_FILES)]
        except sqlite3.Error as error:
            raise StoreError(path=str(self.path), reason=str(error)) from error


def write_inlined(staged: StagedCatalogue) -> None:
    """Write the inlined rows of the catalogue to files: engines store such rows differently. Raises
    StoreError."""
    options = f"data_path {sql_text(f'{staged.data}/')}, override_data_path true"
    attach = f"attach {sql_text(f'ducklake:sqlite:{staged.path}')} as lake ({options})"
    try:
        with closing(connect_duckdb(memory_mb=_MEMORY_MB, spill=None)) as connection:
            connection.execute(attach)
            connection.execute(load_lake_statement("flush_inlined"))
    except duckdb.Error as error:
        raise StoreError(path=str(staged.path), reason=str(error)) from error


ShowMove = Callable[[str, int, int], None]
"""Receives the current stage, and its done and total amount."""

_STAGED: Final = "move"


class LakeMove(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a move."""

    files: int
    """Parquet files."""
    rows: int
    """Rows of all tables."""


NOTHING_MOVED: Final = LakeMove(files=0, rows=0)


def need_empty_place(source: FileAddress, target: PostgresAddress) -> None:
    """Check that the target of a lake has no files, if there is a lake to move.

    They would be deleted as unreferenced. Raises StoreError.
    """
    if not FilePlace(source).has_lake():
        return
    goal = DatabasePlace(target)
    with open_copies(goal) as copies:
        others = copies.list_files()
    if others:
        reason = f"has files of another lake ({min(others)}); name an empty place"
        raise StoreError(path=goal.data_folder(), reason=reason)


def move_lake(source: FileAddress, target: PostgresAddress, show: ShowMove) -> LakeMove:
    """Copy the lake's files to the target's place, and its catalogue to the database.

    The database has the serving state already, and does not open as a store before its move ends.
    No process may append to the lake or compact it. Raises StoreError, also if both lakes differ in
    the end.
    """
    place = FilePlace(source)
    if not place.has_lake():
        return NOTHING_MOVED
    Lake.open(place, sees_serving=False).close()  # migrates it to the newest schema
    goal = DatabasePlace(target)
    goal.prepare()
    with place.compacting(), place.alone(), _staged(place, target) as staged:
        files = _put_files(place, goal, staged, show)
        show("making the catalogue", 0, 1)
        fill_catalogue(goal, target.url.value, staged.path)
        show("making the catalogue", 1, 1)
        Lake.open(place_of(target), sees_serving=False).close()  # fences it, and compares the ids
        rows = check_lakes(place, goal, show)
    return LakeMove(files=files, rows=rows)


@contextmanager
def _staged(place: FilePlace, target: PostgresAddress) -> Iterator[StagedCatalogue]:
    """Yield a copy of the catalogue with all rows in files."""
    make_local_folder(target)
    folder = StoreFiles(prefix=target.prefix).folder / _STAGED
    shutil.rmtree(folder, ignore_errors=True)  # left by an interrupted run
    try:
        folder.mkdir()
        staged = StagedCatalogue(path=folder / "lake.sqlite", data=folder / "data")
        copy_sqlite(place.files.lake, staged.path)
        staged.data.mkdir()
        write_inlined(staged)
        yield staged
    except OSError as error:
        raise StoreError(path=place.name, reason=str(error)) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _put_files(
    place: FilePlace,
    goal: DatabasePlace,
    staged: StagedCatalogue,
    show: ShowMove,
) -> int:
    files = staged.list_files()
    total, done = sum(file.size for file in files), 0
    with open_copies(goal) as copies:
        for file in files:
            path = _path_of(file.name, staged.data, place.files.lake_data)
            if path.stat().st_size != file.size:
                raise StoreError(path=str(path), reason=f"has not the {file.size} bytes it had")
            copies.put_file(path, file.name)
            done += file.size
            show("moving the lake's files", done, total)
    return len(files)


def _path_of(name: str, *folders: Path) -> Path:
    """Return the path of a file below the lake's place. Raises StoreError for other files."""
    for folder in folders:
        path = (folder / name).resolve()
        if path.is_relative_to(folder.resolve()) and path.exists():
            return path
    raise StoreError(path=name, reason="the lake's catalogue names this file, and it is not there")


class _TableSum(msgspec.Struct, frozen=True):
    rows: int
    hashes: int
    """Sum of a 64-bit hash over all columns of each row."""


_SUM: Final = "select count(*), coalesce(sum(hash(t)::hugeint), 0) from lake.{table} as t"


def check_lakes(source: LakePlace, target: LakePlace, show: Callable[[str, int, int], None]) -> int:
    """Compare two lakes by counts and hashes of each table; return the number of rows.

    Reads both lakes completely. Raises StoreError if a table differs.
    """
    wanted = _sums_of(source, lambda done, total: show("reading the lake", done, total))
    found = _sums_of(target, lambda done, total: show("checking the lake", done, total))
    for table in sorted(wanted.keys() | found.keys()):
        if wanted.get(table) != found.get(table):
            reason = (
                f"table {table} of the lake has {_describe(found, table)}, and "
                f"{_describe(wanted, table)} where it was moved from"
            )
            raise StoreError(path=target.name, reason=reason)
    return sum(each.rows for each in wanted.values())


def _describe(sums: dict[str, _TableSum], table: str) -> str:
    found = sums.get(table)
    return "no columns" if found is None else f"{found.rows} rows with the sum {found.hashes}"


def _sums_of(place: LakePlace, show: Callable[[int, int], None]) -> dict[str, _TableSum]:
    try:
        with closing(connect_duckdb(memory_mb=MEMORY_MB, spill=None, place=place)) as connection:
            connection.execute(place.attach_lake(is_read_only=True))
            names = connection.execute(load_lake_statement("list_tables")).fetchall()
            sums = {}
            for at, (name,) in enumerate(names, start=1):
                found = connection.execute(_SUM.format(table=name)).fetchone() or (0, 0)
                sums[str(name)] = _TableSum(int(found[0]), int(found[1]))
                show(at, len(names))
            return sums
    except duckdb.Error as error:
        # The original message may repeat the password.
        raise StoreError(path=place.name, reason=place.masked(str(error))) from None
