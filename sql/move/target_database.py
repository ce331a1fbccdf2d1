"""PostgreSQL database that a store is moved to, with the progress of each table."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from graphlib import TopologicalSorter
from typing import Final

import msgspec
import psycopg
from psycopg.sql import SQL, Composed, Identifier

from core.errors import StoreError
from sql.engine.postgres.connection_limits import PostgresConnection
from sql.engine.postgres.migrations import MOVE_NOTE
from sql.engine.postgres.postgres_database import translate_errors
from sql.engine.postgres.postgres_url import shown_url
from sql.lake.postgres.lake_catalogue import find_catalogue
from sql.move.source_file import TableSums, plain_row

SINGLETONS: Final = ("store_identity", "import_progress", "watch_revision", "key_revision")
"""Tables with rows in an empty store, which those of the moved store replace. They are written
last, because writing other tables changes some."""

_NOTE = SQL("{note}").format(note=Identifier(MOVE_NOTE))
_CREATE_NOTE = SQL(
    "create table if not exists {} (of_table text primary key, rows bigint not null)"
).format(_NOTE)
_NOTED = SQL("select rows from {} where of_table = %s").format(_NOTE)
_SET_NOTE = SQL(
    "insert into {} values (%s, %s) on conflict (of_table) do update set rows = excluded.rows"
).format(_NOTE)
_HAS_NOTE = "select to_regclass(%s) is not null"
_LOCK = "select pg_advisory_xact_lock(hashtext('assay migration'))"
_COLUMNS = """
    select column_name::text, data_type::text from information_schema.columns
    where table_schema = current_schema() and table_name = %s order by ordinal_position
"""
_REFERENCES = """
    select conrelid::regclass::text, confrelid::regclass::text from pg_constraint
    where contype = 'f' and connamespace = current_schema()::regnamespace
"""
_IDENTITY = """
    select column_name::text from information_schema.columns
    where table_schema = current_schema() and table_name = %s and is_identity = 'YES'
"""
_HASHES = {
    "text": "convert_to({column}, 'UTF8')",
    "bytea": "{column}",
    "double precision": "float8send({column})",
}
_SUM_OF_HASHES = (
    "coalesce(sum(('x' || encode(substr(sha256({value}), 1, 4), 'hex'))::bit(32)::bigint), 0)"
)


class TargetColumn(msgspec.Struct, frozen=True):
    """A column of a table."""

    name: str
    sql_type: str


class TargetDatabase:
    """One connection to the database, without time limits. Raises the errors of psycopg."""

    def __init__(self, connection: PostgresConnection, url: str) -> None:
        self._connection = connection
        self._url = url
        self._name = shown_url(url)

    def is_moving(self) -> bool:
        """True if an earlier run has begun a move."""
        return self._connection.execute(_HAS_NOTE, (MOVE_NOTE,)).fetchone() == (True,)

    def begin(self, tables: Sequence[str]) -> None:
        """Record that a move has begun: the store does not open until it is complete.

        Raises StoreError if the database has another store.
        """
        with self._connection.transaction():
            self._connection.execute(_LOCK)
            if not self.is_moving():
                self._refuse_filled(tables)
            self._connection.execute(_CREATE_NOTE)

    def end(self) -> None:
        """Record that the move is complete, so that the store opens."""
        with self._connection.transaction():
            self._connection.execute(SQL("drop table {}").format(_NOTE))

    def in_order(self, tables: Iterable[str]) -> list[str]:
        """Return the tables in order of their foreign keys, singletons last."""
        wanted = sorted(tables)
        graph: dict[str, set[str]] = {table: set() for table in wanted}
        for table, other in self._connection.execute(_REFERENCES).fetchall():
            if table in graph and other in graph and table != other:
                graph[table].add(other)
        ordered = list(TopologicalSorter(graph).static_order())
        return sorted(ordered, key=lambda table: table in SINGLETONS)

    def columns(self, table: str) -> list[TargetColumn]:
        """Return the columns of a table in order."""
        return [
            TargetColumn(*row) for row in self._connection.execute(_COLUMNS, (table,)).fetchall()
        ]

    def done(self, table: str) -> int:
        """Count the rows of a table that have been moved."""
        found = self._connection.execute(_NOTED, (table,)).fetchone()
        return 0 if found is None else int(found[0])

    def write(
        self, table: str, columns: Sequence[TargetColumn], rows: Sequence[Sequence[object]]
    ) -> int:
        """Add rows to a table and record the progress, in one transaction; return the total rows.

        Replaces the rows of a singleton.
        """
        with self._connection.transaction():
            done = 0
            if table in SINGLETONS:
                self._connection.execute(SQL("delete from {}").format(Identifier(table)))
            else:
                done = self.done(table)
            self._copy(table, columns, rows)
            self._connection.execute(_SET_NOTE, (table, done + len(rows)))
        return done + len(rows)

    def give_on_from(self, table: str, last: int) -> None:
        """Make the next number of a table's rows higher than all assigned ones."""
        for (column,) in self._connection.execute(_IDENTITY, (table,)).fetchall():
            found = self._connection.execute(
                SQL("select coalesce(max({}), 0) from {}").format(
                    Identifier(column), Identifier(table)
                )
            ).fetchone()
            newest = 0 if found is None else int(found[0])
            self._connection.execute(
                "select setval(pg_get_serial_sequence(%s, %s), %s, false)",
                (table, column, max(newest, last) + 1),
            )

    def sums(self, table: str, columns: Sequence[TargetColumn]) -> TableSums:
        """Return the sums of a table."""
        each = [_sum_of(column) for column in columns]
        query = SQL("select count(*), {} from {}").format(SQL(", ").join(each), Identifier(table))
        row = self._connection.execute(query).fetchone() or ()
        return TableSums(rows=int(row[0]), sums=tuple(int(value) for value in row[1:]))

    def _copy(
        self, table: str, columns: Sequence[TargetColumn], rows: Sequence[Sequence[object]]
    ) -> None:
        names = SQL(", ").join(Identifier(column.name) for column in columns)
        statement = SQL("copy {} ({}) from stdin (format binary)").format(Identifier(table), names)
        with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            copy.set_types([column.sql_type for column in columns])
            for row in rows:
                copy.write_row(plain_row(row))

    def _refuse_filled(self, tables: Sequence[str]) -> None:
        if find_catalogue(self._url).has_lake:
            reason = "it is not empty (there is a lake); name an empty database"
            raise StoreError(path=self._name, reason=reason)
        for table in set(tables) - set(SINGLETONS):
            query = SQL("select 1 from {} limit 1").format(Identifier(table))
            if self._connection.execute(query).fetchone() is not None:
                reason = f"it is not empty (its table {table} has rows); name an empty database"
                raise StoreError(path=self._name, reason=reason)


def _sum_of(column: TargetColumn) -> Composed:
    if column.sql_type == "bigint":
        return SQL("coalesce(sum({}), 0)").format(Identifier(column.name))
    value = SQL(_HASHES[column.sql_type]).format(column=Identifier(column.name))
    return SQL(_SUM_OF_HASHES).format(value=value)


@contextmanager
def open_target(url: str) -> Iterator[TargetDatabase]:
    """Connect to a database that has the tables of a store. Raises StoreError."""
    name = shown_url(url)
    with (
        translate_errors(name, doing="move"),
        psycopg.connect(url, autocommit=True, connect_timeout=5) as connection,
    ):
        connection.execute("set lock_timeout = '10s'")
        yield TargetDatabase(connection, url)
