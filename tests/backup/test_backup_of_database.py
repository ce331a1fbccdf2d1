"""Protects back-ups of a store in PostgreSQL: database and Parquet files of one moment."""

import os
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import msgspec
import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from config.object_store import ObjectStoreKeys
from config.plans import load_plans
from config.store_address import FileAddress, PostgresAddress
from core.errors import StoreError
from core.process.secret import Secret
from sql.accounts.ledger import Ledger
from sql.analyst.query_runner import run_sql
from sql.backup.make_backup import make_backup
from sql.backup.manifest import DUMP, LAKE_DATA, MANIFEST
from sql.backup.postgres.dump_store import dump_store
from sql.backup.postgres.load_dump import load_dump
from sql.backup.restore import restore_backup
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake.compaction import ChainBounds, CompactionRequest, compact
from sql.lake.compaction_runner import run_compaction
from sql.lake.lake_file import Lake
from tests.harness.lake.serving_files import (
    PostgresServing,
    many_events,
    new_postgres_serving,
    write_batch,
    write_hot,
)
from tests.harness.parts.empty_databases import EmptyDatabases
from tests.harness.parts.postgres_server import PostgresServer
from tests.harness.parts.s3_server import running_s3
from tests.harness.store.empty_files import new_store

pytestmark = [pytest.mark.process, pytest.mark.fleet]

CHAIN = CompactionRequest(chains=(ChainBounds(chain_id=1),), is_forced=True)
PREFIX = """
    select count(*), 10 * count(distinct block_number), 10 * (max(block_number) + 1)
    from v_transfers
"""
"""Three times the same of a store that has each row of all blocks up to its last once."""
PARQUET = f"{LAKE_DATA}/**/*.parquet"
DAMAGED = r"not what was backed up|No such file|no complete back-up"
TABLES = """
    select schemaname::text, tablename::text from pg_tables
    where schemaname in ('public', 'public_lake')
    and tablename not in ('lease', 'ducklake_files_scheduled_for_deletion')
"""


@pytest.fixture(autouse=True)
def programs(postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's own pg_dump comes first on PATH."""
    monkeypatch.setenv("PATH", f"{postgres_server.programs}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def address(empty_databases: EmptyDatabases, tmp_path: Path) -> PostgresAddress:
    """A store with a key, final rows in the lake, some that wait, and some that are not final."""
    store = new_postgres_serving(
        empty_databases.create_bare(),
        lake=str(tmp_path / "lake"),
        prefix=tmp_path / "local" / "assay",
    )
    with closing(Ledger.of_store(store)) as ledger:
        ledger.create_key(load_plans()["pro"], "a key", 1)
    write_closed(store, from_block=0, rows=300)
    compact(store, CHAIN, now_s=0)
    write_closed(store, from_block=30, rows=50)
    with closing(PostgresServing(store)) as serving:
        write_hot(serving, many_events(10, from_block=35))
    return store


@pytest.fixture
def target(empty_databases: EmptyDatabases, tmp_path: Path) -> PostgresAddress:
    """An empty database, and no lake."""
    url = empty_databases.create_bare()
    return PostgresAddress(
        url=Secret(url), lake=str(tmp_path / "again"), prefix=tmp_path / "local" / "again"
    )


def write_closed(address: PostgresAddress, *, from_block: int, rows: int) -> None:
    with closing(PostgresServing(address)) as serving:
        write_batch(serving, many_events(rows, from_block=from_block))
        serving.execute("update batch set is_closed = 1")


def rows_of(address: PostgresAddress) -> dict[tuple[str, str], list[str]]:
    """All rows of all tables, the catalogue's included."""
    with psycopg.connect(address.url.value) as connection:
        return {
            (schema, table): sorted(
                str(row[0])
                for row in connection.execute(
                    SQL("select t::text from {}.{} t").format(Identifier(schema), Identifier(table))
                )
            )
            for schema, table in connection.execute(TABLES).fetchall()
        }


def has_store(address: PostgresAddress) -> bool:
    with psycopg.connect(address.url.value) as connection:
        return connection.execute("select count(*) from pg_tables where schemaname = 'public'"
            ).fetchone() != (0,)  # fmt: skip


def test_every_table_and_every_file_comes_back(
    address: PostgresAddress, target: PostgresAddress, tmp_path: Path
) -> None:
    made = dump_store(address, tmp_path / "backup", now_s=7)
    assert sum(file.path.endswith(".parquet") for file in made.files) > 0
    before = rows_of(address)
    compact(address, CHAIN, now_s=0)
    assert load_dump(tmp_path / "backup", target) == made
    assert rows_of(target) == before
    assert sum(map(bool, before.values())) > 20
    assert run_sql(target, PREFIX).rows == [(360, 360, 360)]
    Store.open(target, must_exist=True).close()
    # It goes on as the first does, and is fenced as that is.
    compact(target, CHAIN, now_s=0)
    assert run_sql(target, PREFIX).rows == [(360, 360, 360)]
    with closing(Lake.open(target)) as lake, pytest.raises(StoreError, match="of nobody"):
        lake.execute("write_version", version=99)


def test_a_backup_beside_writers_and_compaction_is_of_one_moment(
    address: PostgresAddress,
    target: PostgresAddress,
    empty_databases: EmptyDatabases,
    tmp_path: Path,
) -> None:
    """Blocks are written in order: a store of one moment has all up to its last, each once."""
    with closing(PostgresServing(address)) as serving:
        serving.execute("delete from transfer")
    stop, written = threading.Event(), threading.Event()

    def write() -> None:
        number = 35
        while not stop.is_set():
            write_closed(address, from_block=number, rows=20)
            number += 2
            written.set()

    def compact_on() -> None:
        while not stop.is_set():
            with suppress(StoreError):  # while a back-up has its turn
                run_compaction(address, CHAIN)

    threads = [threading.Thread(target=write), threading.Thread(target=compact_on)]
    for thread in threads:
        thread.start()
    try:
        for at in range(2):
            written.clear()
            assert written.wait(30)
            dump_store(address, tmp_path / f"backup-{at}", now_s=0)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    counts: list[int] = []
    for at in range(2):
        again = msgspec.structs.replace(
            target,
            url=Secret(empty_databases.create_bare()),
            lake=str(tmp_path / f"again-{at}"),
            prefix=tmp_path / "local" / f"again-{at}",
        )
        load_dump(tmp_path / f"backup-{at}", again)
        ((rows, blocks, beyond),) = run_sql(again, PREFIX).rows
        assert rows == blocks == beyond
        counts.append(int(str(rows)))
    assert counts == sorted(set(counts))
    assert counts[-1] <= int(str(run_sql(address, PREFIX).rows[0][0]))


@pytest.mark.parametrize(
    ("pattern", "harm"),
    [
        (DUMP, "changed"),
        (DUMP, "cut"),
        (MANIFEST, "removed"),
        (PARQUET, "changed"),
        (PARQUET, "removed"),
    ],
)
def test_a_damaged_backup_is_refused(
    backup: Path, target: PostgresAddress, pattern: str, harm: str
) -> None:
    path = next(backup.glob(pattern))
    content = path.read_bytes()
    path.unlink()  # it may be a link to the lake's own
    if harm != "removed":
        path.write_bytes(content[:-1] + (b"" if harm == "cut" else b"?"))
    with pytest.raises(
        StoreError, match=r"not what was backed up|No such file|complete|malformed|Input data"
    ):
        load_dump(backup, target)
    assert not has_store(target)
    assert not Path(target.lake).exists()


@pytest.fixture
def backup(address: PostgresAddress, tmp_path: Path) -> Path:
    dump_store(address, tmp_path / "backup", now_s=0)
    return tmp_path / "backup"


def test_a_restore_that_was_ended_goes_on(backup: Path, target: PostgresAddress) -> None:
    def break_off(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_dump(backup, target, progress=break_off)
    assert not has_store(target)
    assert any(Path(target.lake).rglob("*.parquet"))
    load_dump(backup, target)
    assert run_sql(target, PREFIX).rows == [(360, 360, 360)]


def test_nothing_is_overwritten(
    backup: Path, address: PostgresAddress, target: PostgresAddress, tmp_path: Path
) -> None:
    before = rows_of(address)
    with pytest.raises(StoreError, match="exists already"):
        dump_store(address, backup, now_s=0)
    with pytest.raises(StoreError, match="holds a store already"):
        load_dump(backup, address)
    assert rows_of(address) == before
    other = tmp_path / "again" / "main" / "transfer" / "chain_id=1" / "other.parquet"
    other.parent.mkdir(parents=True)
    other.touch()
    with pytest.raises(StoreError, match="files of another lake"):
        load_dump(backup, target)
    assert not has_store(target)


def test_another_schema_is_not_filled_unnoticed(backup: Path, target: PostgresAddress) -> None:
    with psycopg.connect(target.url.value) as connection:
        connection.execute("create schema other")
    elsewhere = msgspec.structs.replace(
        target, url=Secret(f"{target.url.value}?options=-csearch_path%3Dother")
    )
    with pytest.raises(StoreError, match="its search path has to begin with the same"):
        load_dump(backup, elsewhere)


def test_each_kind_of_backup_says_where_it_belongs(
    backup: Path, target: PostgresAddress, tmp_path: Path
) -> None:
    new_store(tmp_path / "store").close()
    files, ledger = StoreFiles(prefix=tmp_path / "store"), FileAddress(tmp_path / "store").ledger
    make_backup(files, ledger, tmp_path / "of-files", now_s=0)
    with pytest.raises(StoreError, match="is of a store in files"):
        load_dump(tmp_path / "of-files", target)
    with pytest.raises(StoreError, match="is of a store in PostgreSQL"):
        restore_backup(backup, StoreFiles(prefix=tmp_path / "new"), tmp_path / "ledger")


def test_a_program_that_is_missing_or_too_old_is_named(
    address: PostgresAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(StoreError, match="pg_dump is not installed"):
        dump_store(address, tmp_path / "backup", now_s=0)
    program = folder / "pg_dump"
    program.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.24'\n")
    program.chmod(0o755)
    with pytest.raises(StoreError, match="is of PostgreSQL 9 and cannot read"):
        dump_store(address, tmp_path / "backup", now_s=0)
    assert not (tmp_path / "backup").exists()


def test_a_password_is_not_in_an_error(
    address: PostgresAddress, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    with psycopg.connect(postgres_server.url(), autocommit=True) as admin:
        admin.execute("drop role if exists reader")
        admin.execute("create role reader login password 'sesame:42'")
    database = address.url.value.rpartition("/")[2]
    with psycopg.connect(address.url.value) as connection:
        for schema in ("public", "public_lake"):
            connection.execute(f"grant usage on schema {schema} to reader")
            connection.execute(f"grant select on all tables in schema {schema} to reader")
        connection.execute("grant update, insert on lease to reader")
        connection.execute("revoke select on watch from reader")
    url = f"postgresql://reader:sesame%3A42@127.0.0.1:{postgres_server.port}/{database}"
    weak = msgspec.structs.replace(address, url=Secret(url))
    with pytest.raises(StoreError, match=r"pg_dump: .*permission denied") as caught:
        dump_store(weak, tmp_path / "backup", now_s=0)
    assert "sesame" not in str(caught.value)
    assert not (tmp_path / "backup").exists()


@pytest.fixture
def buckets(address: PostgresAddress) -> Iterator[tuple[ObjectStoreKeys, str, str]]:
    with running_s3() as server:
        server.create_bucket("first")
        server.create_bucket("second")
        keys = ObjectStoreKeys(
            key_id=server.key_id,
            secret=Secret(server.secret),
            endpoint=f"http://{server.endpoint}",
        )
        yield keys, "s3://first/lake", "s3://second/lake"


def test_a_lake_in_a_bucket_comes_back_in_another(
    buckets: tuple[ObjectStoreKeys, str, str],
    empty_databases: EmptyDatabases,
    target: PostgresAddress,
    tmp_path: Path,
) -> None:
    keys, first, second = buckets
    made = new_postgres_serving(
        empty_databases.create_bare(), lake=first, prefix=tmp_path / "local" / "bucket"
    )
    store = msgspec.structs.replace(made, objects=keys)
    write_closed(store, from_block=0, rows=100)
    compact(store, CHAIN, now_s=0)
    dump_store(store, tmp_path / "backup", now_s=0)
    again = msgspec.structs.replace(target, lake=second, objects=keys)
    load_dump(tmp_path / "backup", again)
    assert run_sql(again, PREFIX).rows == [(100, 100, 100)]
