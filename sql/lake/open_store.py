"""Read-only access to a store in DuckDB: serving state, lake and views, nothing else in reach.

Also as a script for DuckDB's shell and for notebooks.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import duckdb

from config.store_address import FileAddress
from core.errors import StoreError
from sql.engine.store_files import StoreFiles
from sql.lake.extensions import sql_text
from sql.lake.find_place import LakeOwner, place_of
from sql.lake.lake_file import connect_duckdb
from sql.lake.lake_place import FilePlace, LakePlace
from sql.lake.lake_statements import load_lake_migrations
from sql.lake.store_identity import check_lake

_VIEWS = Path(__file__).parents[1] / "analyst" / "views"
_ON_VIEW = re.compile(r"\b(?:from|join) (v_\w+)")


@cache
def load_views() -> dict[str, str]:
    """Return the statements that create the views, by name; each comes after those it reads."""
    views = {path.stem: path.read_text(encoding="utf-8") for path in sorted(_VIEWS.glob("*.sql"))}

    def depth(name: str) -> int:
        return 1 + max(map(depth, set(_ON_VIEW.findall(views[name]))), default=0)

    return dict(sorted(views.items(), key=lambda view: depth(view[0])))


def open_to_read(
    owner: LakeOwner, *, memory_mb: int, writes: Sequence[Path] = ()
) -> duckdb.DuckDBPyConnection:
    """Open a store for reading, with its views, in a transaction that sees one state of it.

    No other file can be read, none but `writes` written, and settings cannot be changed. Raises
    StoreError if there is no serving state, duckdb.Error if a file cannot be read.
    """
    place = place_of(owner)
    place.check_serving()
    connection = connect_duckdb(memory_mb=memory_mb, spill=None, place=place)
    try:
        _attach(connection, place)
        connection.execute(f"set allowed_directories = [{sql_text(place.data_folder())}]")
        if writes:
            paths = ", ".join(sql_text(path) for path in writes)
            connection.execute(f"set allowed_paths = [{paths}]")
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
        _begin(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def attach_store(connection: duckdb.DuckDBPyConnection, place: LakePlace) -> None:
    """Attach a store for reading, with its views, and begin a transaction that sees one state.

    The caller restricts the connection. Raises StoreError if there is no serving state,
    duckdb.Error if a file cannot be read.
    """
    place.check_serving()
    _attach(connection, place)
    _begin(connection)


def _attach(connection: duckdb.DuckDBPyConnection, place: LakePlace) -> None:
    for statement in _attachments(place):
        connection.execute(statement)
    _make_views(connection, place)
    check_lake(connection, place)


def _begin(connection: duckdb.DuckDBPyConnection) -> None:
    connection.begin()
    # First the serving state, then the lake: see v_transfers.
    connection.execute("select batch from serving.batch limit 1").fetchall()
    connection.execute("select batch from lake.moved limit 1").fetchall()


def _make_views(connection: duckdb.DuckDBPyConnection, place: LakePlace) -> None:
    try:
        for view in load_views().values():
            connection.execute(view)
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        reason = f"another release wrote it; start the service of this one once ({error})"
        raise StoreError(path=place.serving_name, reason=reason) from error


def write_open_script(files: StoreFiles) -> None:
    """Write the script that opens a store in DuckDB's shell: `.read <store>.open.sql`.

    Raises OSError.
    """
    place = FilePlace(FileAddress(files.prefix))
    lines = [
        "-- Opens this store read-only, also while the service runs. The views begin with v_.",
        f"-- DuckDB must have version {duckdb.__version__}. Written by Assay at each compaction.",
        *(f"load {sql_text(path)};" for path in place.list_extensions()),
        *(f"{statement.rstrip(';')};" for statement in _attachments(place)),
        *load_views().values(),
    ]
    text = "\n".join(lines) + "\n"
    if files.open_script.exists() and files.open_script.read_text(encoding="utf-8") == text:
        return
    unfinished = files.open_script.with_suffix(".new")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(files.open_script)


def _attachments(place: LakePlace) -> list[str]:
    """Return the statements that attach both parts; a missing lake is an empty one."""
    if place.has_lake():
        return [place.attach_serving(), place.attach_lake(is_read_only=True)]
    empty = [migration.text for migration in load_lake_migrations()]
    return [place.attach_serving(), "attach ':memory:' as lake", *empty]
