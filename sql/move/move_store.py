"""Move of a store in files to PostgreSQL: serving state, ledger and lake.

Tables are copied in chunks; after an interruption the next run continues after the last chunk. The
files are only read, and no other process may write them. The database opens as a store once counts
and sums of every table agree.
"""

from contextlib import ExitStack
from typing import Final

import msgspec

from config.store_address import FileAddress, PostgresAddress
from core.errors import StoreError
from sql.accounts.ledger import LEDGER, Ledger
from sql.engine.postgres.postgres_database import PostgresDatabase
from sql.engine.store import SERVING, Store
from sql.engine.store_files import StoreFiles
from sql.move.move_lake import NOTHING_MOVED, LakeMove, ShowMove, move_lake, need_empty_place
from sql.move.source_file import SourceFile, lock_file
from sql.move.target_database import SINGLETONS, TargetDatabase, open_target

ROWS_AT_ONCE: Final = 5_000
"""Rows of one transaction."""


class MoveResult(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a move."""

    tables: int
    rows: int
    """Rows of all tables, including those moved by an earlier run."""
    lake: LakeMove


def move_store(
    source: FileAddress,
    target: PostgresAddress,
    show: ShowMove,
    *,
    with_lake: bool = True,
    rows_at_once: int = ROWS_AT_ONCE,
) -> MoveResult:
    """Move a store to an empty database, or continue an interrupted move.

    Raises StoreError, also if the files have changed since the move began, and if the database has
    other content.
    """
    Store.open(source, must_exist=True).close()  # migrates it to the newest schema
    Ledger.of_store(source).close()
    for layout in (SERVING, LEDGER):
        PostgresDatabase(target.url.value, layout, may_be_moving=True).close()
    with ExitStack() as stack:
        files = [
            stack.enter_context(lock_file(StoreFiles(prefix=source.path).serving)),
            stack.enter_context(lock_file(source.ledger)),
        ]
        database = stack.enter_context(open_target(target.url.value))
        sources = {table: file for file in files for table in file.tables()}
        if with_lake and not database.is_moving():
            need_empty_place(source, target)
        database.begin(list(sources))
        tables = database.in_order(sources)
        rows = [_copy(sources[table], database, table, show, rows_at_once) for table in tables]
        for at, table in enumerate(tables, start=1):
            _check(sources[table], database, table, name=str(source))
            show("checking", at, len(tables))
        lake = move_lake(source, target, show) if with_lake else NOTHING_MOVED
        database.end()
    return MoveResult(tables=len(tables), rows=sum(rows), lake=lake)


def _copy(
    file: SourceFile, database: TargetDatabase, table: str, show: ShowMove, at_once: int
) -> int:
    """Copy the missing rows of a table; return the total number of rows."""
    columns, total = database.columns(table), file.count(table)
    if table in SINGLETONS:
        rows = [row for page in file.pages(table, after=0, at_once=at_once) for row in page]
        done = database.write(table, columns, rows)
    else:
        done = database.done(table)
        for page in file.pages(table, after=done, at_once=at_once):
            done = database.write(table, columns, page)
            show(f"moving {table}", done, total)
    database.give_on_from(table, file.last_given(table))
    return done


def _check(file: SourceFile, database: TargetDatabase, table: str, *, name: str) -> None:
    """Raise StoreError unless both have the same rows of a table."""
    columns = database.columns(table)
    wanted, found = file.sums(table), database.sums(table, columns)
    if found == wanted:
        return
    if found.rows != wanted.rows:
        what = f"{found.rows} rows instead of {wanted.rows}"
    else:
        pairs = zip(columns, wanted.sums, found.sums, strict=True)
        what = f"other {', '.join(each.name for each, one, two in pairs if one != two)}"
    reason = (
        f"{table} has {what} in the database: the files have changed since the move began. "
        "Move to another empty database"
    )
    raise StoreError(path=name, reason=reason)
