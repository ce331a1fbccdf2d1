"""Moving a store to PostgreSQL, and migrating one there.

A grown store and a back-filled lake are moved to a temporary PostgreSQL, which writes its log
through as in production. Then a database with the first schema is filled, and each later migration
runs by itself. A lock counts where the migration did not create the table and others cannot write
or read it until the migration ends. A newer release runs all new migrations in one transaction, so
that locks last for all of them together; more than a second of that ends with an error.

    python -m benchmarks.postgres --only move --transfers 10
    python -m benchmarks.postgres --only migrate --rows 200000
"""

import argparse
import resource
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import psycopg
from psycopg.sql import SQL, Composable, Identifier, Literal

from benchmarks._grown_store import FIRST_BLOCK, grow
from config.store_address import FileAddress, PostgresAddress
from core.process.secret import Secret
from sql.engine.statements import Migration, load_migrations
from sql.engine.store import SERVING
from sql.engine.store_files import StoreFiles
from sql.lake.bulk_append import BulkRange, LakeColumns, append_transfers
from sql.lake.lake_file import Lake
from sql.move.move_store import move_store
from tests.harness.measure.machine import describe
from tests.harness.parts.postgres_server import running_postgres

_AT_ONCE = 2_000_000
_TOKENS = 10_000
_MILLION = 1_000_000
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


def main() -> None:
    """Measure both, or the part of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("move", "migrate"))
    parser.add_argument("--transfers", type=float, default=10, help="millions, to move")
    parser.add_argument("--folder", type=Path, help="with store.serving.sqlite; it gets a lake")
    parser.add_argument("--rows", type=int, default=200_000, help="of each table, to migrate")
    options = parser.parse_args()
    if options.only != "migrate":
        measure_move(options.transfers, options.folder)
    if options.only != "move":
        measure_migrations(options.rows)


def measure_move(millions: float, kept: Path | None) -> None:
    """Print the time of a move. `kept`: folder with a store. None: one is written."""
    transfers = int(millions * _MILLION)
    with tempfile.TemporaryDirectory(prefix="assay-moving-") as made:
        folder = kept or Path(made)
        source = FileAddress(folder / "store")
        if kept is None:
            grow(source.path, transfers)
        if not StoreFiles(prefix=source.path).lake.exists():
            _fill_lake(source, transfers)
        print(describe(f"{millions:g} million transfers"))
        with running_postgres(is_durable=True) as server:
            target = PostgresAddress(
                url=Secret(server.url()), lake=str(Path(made) / "lake"), prefix=Path(made) / "here"
            )
            _move(source, target)


def _move(source: FileAddress, target: PostgresAddress) -> None:
    steps: dict[str, float] = {}
    last_s = begun_s = time.monotonic()

    def show(what: str, *_: int) -> None:
        nonlocal last_s
        now_s = time.monotonic()
        kind = "moving tables" if what.startswith("moving ") and "lake" not in what else what
        steps[kind] = steps.get(kind, 0.0) + now_s - last_s
        last_s = now_s

    moved = move_store(source, target, show)
    took_s = time.monotonic() - begun_s
    size = sum(path.stat().st_size for path in source.path.parent.rglob("*") if path.is_file())
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{moved.rows / _MILLION:.1f} million rows of {moved.tables} tables, and "
        f"{moved.lake.rows / _MILLION:.1f} million of the lake in {moved.lake.files} files; "
        f"{size / 1e9:.2f} GB; {took_s:.0f} s, at most {memory_mb:.0f} MB"
    )
    print("; ".join(f"{what} {seconds:.0f} s" for what, seconds in steps.items()))


def _fill_lake(source: FileAddress, transfers: int) -> None:
    with closing(Lake.open(source, sees_serving=False)) as lake:
        for at in range(0, transfers, _AT_ONCE):
            rows = min(_AT_ONCE, transfers - at)
            first = FIRST_BLOCK // 2 + at // 10
            append_transfers(
                lake,
                BulkRange(
                    chain_id=1, stream="back-fill", from_block=first, to_block=first + rows // 10
                ),
                transfers=_transfers(rows, first, seed=at),
                tokens=_tokens(),
                stored=None,
            )


def _transfers(rows: int, first: int, *, seed: int) -> LakeColumns:
    rng = np.random.default_rng(seed)
    token_ids = np.sort(rng.integers(1, _TOKENS + 1, rows, np.int32))
    words = {
        name: rng.integers(0, 1 << 63, rows, np.uint64)
        for name in ("sender_mid", "sender_low", "recipient_mid", "recipient_low", "word0")
    }
    zeros = np.zeros(rows, np.uint64)
    numbers = np.arange(rows)
    return {
        "block_number": first + numbers // 10,
        "log_index": (numbers % 10).astype(np.int32),
        "token_id": token_ids,
        "sender_high": rng.integers(0, 1 << 32, rows, np.uint32),
        "recipient_high": rng.integers(0, 1 << 32, rows, np.uint32),
        **words,
        **dict.fromkeys(("word1", "word2", "word3"), zeros),
        "time_s": 1_700_000_000 + numbers // 10,
    }


def _tokens() -> LakeColumns:
    ids = np.arange(1, _TOKENS + 1)
    return {
        "token_id": ids.astype(np.int32),
        "high": ids.astype(np.uint32),
        "mid": ids.astype(np.uint64),
        "low": ids.astype(np.uint64),
    }


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A completed migration."""

    version: int
    seconds: float
    locked: tuple[str, ...]
    """Earlier tables that could not be written until its end, with the lock."""


def measure_migrations(rows: int) -> None:
    """Print a line per migration."""
    print(describe(f"{rows} rows in each table"))
    first, *later = load_migrations(SERVING.schema)
    with (
        running_postgres(is_durable=True) as server,
        psycopg.connect(server.url(), autocommit=True) as connection,
    ):
        connection.execute(first.text.encode())
        _fill_tables(connection, rows)
        size = connection.execute("select pg_database_size(current_database())").fetchone()
        print(f"{int(size[0]) / 1e9 if size else 0:.2f} GB with the first schema")
        steps = [_migrate(connection, migration) for migration in later]
    for step in steps:
        locked = ", ".join(step.locked) or "nothing"
        print(f"{step.version:03d}: {1e3 * step.seconds:.0f} ms, locks {locked}")
    locked_s = sum(step.seconds for step in steps)
    print(f"all together {1e3 * locked_s:.0f} ms")
    if locked_s > _LONGEST_S and any(step.locked for step in steps):
        message = f"tables are locked for longer than {_LONGEST_S:g} s"
        raise SystemExit(message)


def _fill_tables(connection: _Connection, rows: int) -> None:
    """Write numbered rows to every table, without triggers and references."""
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


def _migrate(connection: _Connection, migration: Migration) -> Step:
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
