"""A store opened for reading: serving state and lake attached, views on top, nothing else in reach.

The same as a script, for DuckDB's own shell and for notebooks.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import duckdb

from core.errors import StoreError
from sql.lake.extensions import extension_paths, sql_text
from sql.lake.lake_file import connect_duckdb, data_path_option
from sql.lake.lake_statements import load_lake_migrations
from sql.lake.store_identity import check_lake
from sql.store_files import StoreFiles

_VIEWS = Path(__file__).parent / "views"
_BUSY_MS = 5_000
_ON_VIEWS = re.compile(r"\b(?:from|join) v_")


@cache
def load_views() -> dict[str, str]:
    """Return the statements that make and describe the views, by name; those on views come last."""
    views = {path.stem: path.read_text(encoding="utf-8") for path in sorted(_VIEWS.glob("*.sql"))}
    return dict(sorted(views.items(), key=lambda view: bool(_ON_VIEWS.search(view[1]))))


def open_to_read(
    files: StoreFiles, *, memory_mb: int, writes: Sequence[Path] = ()
) -> duckdb.DuckDBPyConnection:
    """Open a store for reading, with its views, in a transaction that sees one state of it.

    Beyond the store no file can be read, none written but `writes`, and settings cannot be changed.
    Raises
    StoreError when there is no serving state; duckdb.Error when a file cannot be read.
    """
    if not files.serving.exists():
        raise StoreError(path=str(files.serving), reason="there is no such file")
    connection = connect_duckdb(memory_mb=memory_mb, spill=None)
    try:
        _attach(connection, files)
        folder = f"{files.lake_data.resolve()}/"
        connection.execute(f"set allowed_directories = [{sql_text(folder)}]")
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


def attach_store(connection: duckdb.DuckDBPyConnection, files: StoreFiles) -> None:
    """Attach a store for reading, with its views, and begin a transaction that sees one state.

    What else it may do is left to the caller. Raises StoreError when there is no serving state;
    duckdb.Error when a file cannot be read.
    """
    if not files.serving.exists():
        raise StoreError(path=str(files.serving), reason="there is no such file")
    _attach(connection, files)
    _begin(connection)


def _attach(connection: duckdb.DuckDBPyConnection, files: StoreFiles) -> None:
    for statement in _attachments(files):
        connection.execute(statement)
    _make_views(connection, files)
    check_lake(connection, files)


def _begin(connection: duckdb.DuckDBPyConnection) -> None:
    connection.begin()
    # First the serving state, then the lake: see v_transfers.
    connection.execute("select batch from serving.batch limit 1").fetchall()
    connection.execute("select batch from lake.moved limit 1").fetchall()


def _make_views(connection: duckdb.DuckDBPyConnection, files: StoreFiles) -> None:
    try:
        for view in load_views().values():
            connection.execute(view)
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        reason = f"another release wrote it; start the service of this one once ({error})"
        raise StoreError(path=str(files.serving), reason=reason) from error


def write_open_script(files: StoreFiles) -> None:
    """Write the script with which DuckDB's own shell opens a store: `.read <store>.open.sql`.

    Raises OSError.
    """
    lines = [
        "-- Opens this store read-only, also while the service runs. The views begin with v_.",
        f"-- DuckDB must have version {duckdb.__version__}. Written by Assay at each compaction.",
        *(f"load {sql_text(path)};" for path in extension_paths()),
        *(f"{statement.rstrip(';')};" for statement in _attachments(files)),
        *load_views().values(),
    ]
    text = "\n".join(lines) + "\n"
    if files.open_script.exists() and files.open_script.read_text(encoding="utf-8") == text:
        return
    unfinished = files.open_script.with_suffix(".new")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(files.open_script)


def _attachments(files: StoreFiles) -> list[str]:
    """Return the statements that attach both parts; a lake not there yet is an empty one."""
    serving = f"attach {sql_text(files.serving.resolve())} as serving (type sqlite, read_only)"
    if not files.lake.exists():
        empty = [migration.text for migration in load_lake_migrations()]
        return [serving, "attach ':memory:' as lake", *empty]
    url = f"ducklake:sqlite:{files.lake.resolve()}"
    return [
        serving,
        f"attach {sql_text(url)} as lake (read_only, {data_path_option(files)}, "
        f"meta_busy_timeout {_BUSY_MS})",
    ]
