"""What each migration of a store in PostgreSQL takes on tables of real size, and what it locks.

A database with the first schema gets so many rows in every table; then each later migration runs
by itself. A lock counts where the migration has not made the table and others cannot write it, or
not even read it, until the migration ends. A start of a newer release runs all that are new in one
transaction, so locks last for all of them together; more than a second of that ends with an error.

    python -m benchmarks.migrations --rows 200000
"""

import argparse
import time
from typing import Any

import msgspec
import psycopg
from psycopg.sql import SQL, Composable, Identifier, Literal

from benchmarks._machine import describe
from sql.engine.statements import Migration, load_migrations
from sql.engine.store import SERVING
from tests.harness.parts.postgres_server import running_postgres

_Connection = psycopg.Connection[tuple[Any, ...]]
_ONE_ROW = frozenset({"store_identity", "import_progress", "watch_revision"})
_LONG_BYTES = 2_000
_LONGEST_S = 1.0
_TABLES = "select tablename::text from pg_tables where schemaname = 'public' order by 1"
_COLUMNS = """
    select column_name::text, data_type::text from information_schema.columns
    where table_schema = 'public' and table_name = %s order by ordinal_position
"""
_LOCKS = """
    select relation::regclass::text, mode from pg_locks
    where pid = pg_backend_pid() and locktype = 'relation'
    and mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
    and relation::regclass::text = any(%s) order by 1, 2
"""
_VALUES = {
    "bigint": SQL("number"),
    "boolean": SQL("false"),
    "bytea": SQL("sha256(int8send(number))"),
    "double precision": SQL("number::double precision"),
    "text": SQL("'text ' || number"),
    "timestamp with time zone": SQL("to_timestamp(number)"),
}


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One migration that has run."""

    version: int
    seconds: float
    locked: tuple[str, ...]
    """Tables that were there before and could not be written until it ended, with the lock."""


def main() -> None:
    """Print a line a migration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000, help="of each table")
    rows = parser.parse_args().rows
    print(describe(f"{rows} rows in each table"))
    first, *later = load_migrations(SERVING.schema)
    with (
        running_postgres(is_durable=True) as server,
        psycopg.connect(server.url(), autocommit=True) as connection,
    ):
        connection.execute(first.text.encode())
        _fill(connection, rows)
        size = connection.execute("select pg_database_size(current_database())").fetchone()
        print(f"{int(size[0]) / 1e9 if size else 0:.2f} GB with the first schema")
        steps = [_run(connection, migration) for migration in later]
    for step in steps:
        locked = ", ".join(step.locked) or "nothing"
        print(f"{step.version:03d}: {1e3 * step.seconds:.0f} ms, locks {locked}")
    held_s = sum(step.seconds for step in steps)
    print(f"all together {1e3 * held_s:.0f} ms")
    if held_s > _LONGEST_S and any(step.locked for step in steps):
        message = f"tables are locked for longer than {_LONGEST_S:g} s"
        raise SystemExit(message)


def _fill(connection: _Connection, rows: int) -> None:
    """Write numbered rows to every table; triggers and references are left out, as no chain has
    made them."""
    connection.execute("set session_replication_role = replica")
    for (table,) in connection.execute(_TABLES).fetchall():
        if table in _ONE_ROW:
            continue
        columns = connection.execute(_COLUMNS, (table,)).fetchall()
        names = SQL(", ").join(Identifier(name) for name, _ in columns)
        values = SQL(", ").join(_value(table, name, kind) for name, kind in columns)
        count = Literal(1 if table == "bulk_folded" else rows)
        connection.execute(
            SQL(
                "insert into {} ({}) overriding system value"
                " select {} from generate_series(1, {}) as number"
            ).format(Identifier(table), names, values, count)
        )
    connection.execute("set session_replication_role = origin")
    connection.execute("vacuum analyze")


def _value(table: str, name: str, kind: str) -> Composable:
    if (table, name) == ("report_body", "body"):
        return SQL("repeat(md5(number::text), {})::bytea").format(Literal(_LONG_BYTES // 32))
    return _VALUES[kind]


def _run(connection: _Connection, migration: Migration) -> Step:
    before = [table for (table,) in connection.execute(_TABLES).fetchall()]
    with connection.transaction():
        begun_s = time.perf_counter()
        connection.execute(migration.text.encode())
        seconds = time.perf_counter() - begun_s
        locks = connection.execute(_LOCKS, (before,)).fetchall()
    return Step(
        version=migration.version,
        seconds=seconds,
        locked=tuple(f"{table} ({mode.removesuffix('Lock')})" for table, mode in locks),
    )


if __name__ == "__main__":
    main()
