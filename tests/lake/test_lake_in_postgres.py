"""Protects the lake of a store in PostgreSQL.

An overtaken writer commits nothing, analysts reach the views alone, and a lost server takes nothing
with it.
"""

import random
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import psycopg
import pytest

from config.object_store import ObjectStoreKeys
from config.store_address import PostgresAddress
from core.errors import QueryError, StoreError
from core.process.secret import Secret
from sql.analyst.bounds import Bounds
from sql.analyst.descriptions import describe_view
from sql.analyst.export import export_views
from sql.analyst.query_runner import run_sql
from sql.analyst.statement_check import check_statement
from sql.engine.child_process import start_child
from sql.engine.postgres.leases import Leases
from sql.lake.bulk_append import BulkRange, append_transfers, list_bulks
from sql.lake.compaction import ChainBounds, CompactionRequest, compact
from sql.lake.compaction_process import CompactionOrder
from sql.lake.compaction_runner import run_compaction
from sql.lake.durable import put_on_disk
from sql.lake.find_place import message_of, place_of
from sql.lake.lake_file import Lake
from sql.lake.lake_place import LakeLock
from sql.lake.open_store import load_views, open_to_read
from tests.harness.lake.bulk_frames import tokens, transfers_of
from tests.harness.lake.serving_files import (
    Onlooker,
    PostgresServing,
    many_events,
    new_postgres_serving,
    write_batch,
    write_hot,
)
from tests.harness.parts.empty_databases import EmptyDatabases
from tests.harness.parts.s3_server import S3Server, running_s3
from tests.harness.parts.tcp_proxy import proxied

pytestmark = [pytest.mark.process, pytest.mark.fleet]

CHAIN = CompactionRequest(chains=(ChainBounds(chain_id=1),), is_forced=True)
PUT_ON_DISK = "sql.lake.postgres.lake_in_postgres.put_on_disk"
COUNT = "select count(*) from v_transfers"


@pytest.fixture
def address(empty_databases: EmptyDatabases, tmp_path: Path) -> PostgresAddress:
    """A store of the test's own, with its lake in a folder."""
    return new_postgres_serving(
        empty_databases.create_bare(),
        lake=str(tmp_path / "lake"),
        prefix=tmp_path / "local" / "assay",
    )


@pytest.fixture(scope="module")
def s3_server() -> Iterator[S3Server]:
    with running_s3() as server:
        yield server


@pytest.fixture
def in_bucket(address: PostgresAddress, s3_server: S3Server, tmp_path: Path) -> PostgresAddress:
    """The same store with its lake in a bucket of the test's own."""
    s3_server.create_bucket(tmp_path.name.replace("_", "-"))
    return msgspec.structs.replace(
        address,
        lake=f"s3://{tmp_path.name.replace('_', '-')}/lake",
        objects=ObjectStoreKeys(
            key_id=s3_server.key_id,
            secret=Secret(s3_server.secret),
            endpoint=f"http://{s3_server.endpoint}",
        ),
    )


def closed_batches(address: PostgresAddress, count: int, rows: int) -> int:
    """Write some closed batches and some hot rows; return the number of all rows."""
    with closing(PostgresServing(address)) as serving:
        for at in range(count):
            write_batch(serving, many_events(rows, from_block=at * rows))
            serving.execute("update batch set is_closed = 1")
        write_hot(serving, many_events(10, from_block=count * rows))
    return count * rows + 10


def rows_left(address: PostgresAddress) -> int:
    with closing(PostgresServing(address)) as serving:
        return int(serving.execute("select count(*) from final_transfer").fetchone()[0])


def test_a_bucket_holds_the_lake(in_bucket: PostgresAddress, tmp_path: Path) -> None:
    total = closed_batches(in_bucket, 2, 300)
    assert run_sql(in_bucket, COUNT).rows == [(total,)]
    result = run_compaction(in_bucket, CHAIN)
    assert result is not None
    assert result.moved_rows == 600
    assert result.lake.bytes_of(1) > 0
    assert rows_left(in_bucket) == 0
    assert run_sql(in_bucket, COUNT).rows == [(total,)]
    done = export_views(in_bucket, tmp_path / "export", ("v_transfers", "v_tokens"))
    assert done.rows == {"v_transfers": 600, "v_tokens": 5}


def test_a_lost_object_store_is_said_loses_nothing_and_may_come_back(
    in_bucket: PostgresAddress, s3_server: S3Server
) -> None:
    total = closed_batches(in_bucket, 1, 100)
    s3_server.stop()
    with pytest.raises(StoreError) as caught:
        run_compaction(in_bucket, CHAIN)
    assert s3_server.secret not in str(caught.value)
    assert rows_left(in_bucket) == 100
    assert run_sql(in_bucket, COUNT).rows == [(total,)]
    s3_server.start()
    assert run_compaction(in_bucket, CHAIN) is not None
    assert rows_left(in_bucket) == 0
    assert run_sql(in_bucket, COUNT).rows == [(total,)]


def test_a_cut_connection_is_an_error_without_the_password_and_the_next_round_goes_on(
    address: PostgresAddress,
) -> None:
    total = closed_batches(address, 1, 100)
    parts = psycopg.conninfo.conninfo_to_dict(address.url.value)
    password = str(parts["password"])
    with proxied(int(str(parts["port"]))) as proxy:
        behind = msgspec.structs.replace(
            address,
            url=Secret(
                f"postgresql://{parts['user']}:{password}@127.0.0.1:{proxy.port}/{parts['dbname']}"
            ),
        )
        with closing(Lake.open(behind)) as lake:
            proxy.refuse()
            proxy.cut()
            with pytest.raises(StoreError) as caught:
                lake.fetch("read_version", _Version)
            assert password not in str(caught.value)
        with pytest.raises(StoreError) as caught:
            run_compaction(behind, CHAIN)
        assert password not in str(caught.value)
    assert rows_left(address) == 100
    assert run_compaction(address, CHAIN) is not None
    assert run_sql(address, COUNT).rows == [(total,)]


class _Version(msgspec.Struct):
    version: int


def test_killed_at_any_moment_and_started_again(
    address: PostgresAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed process keeps its lease until it has been silent for long enough."""
    closed_batches(address, 3, 2_000)
    Lake.open(address).close()
    order = msgspec.json.encode(CompactionOrder(store=message_of(place_of(address)), request=CHAIN))
    with closing(Onlooker(address)) as onlooker:
        before = onlooker.look()
        dice = random.Random(7)  # noqa: S311 - a seed makes a failure repeatable
        for _ in range(3):
            with start_child("sql.lake.compaction_process", order, niceness=1):
                time.sleep(0.8 + dice.random() * 0.9)
            assert onlooker.look() == before
            end_leases(address)
        run_compaction(address, CHAIN)
        assert onlooker.look() == before
    assert rows_left(address) == 0


def end_leases(address: PostgresAddress) -> None:
    """As if their time had passed."""
    with closing(PostgresServing(address)) as serving:
        serving.execute("update lease set expires_at = clock_timestamp()")


def test_a_reader_beside_a_round_sees_every_row_once_at_any_time(address: PostgresAddress) -> None:
    total = closed_batches(address, 2, 3_000)
    Lake.open(address).close()
    worker = threading.Thread(target=run_compaction, args=[address, CHAIN])
    worker.start()
    looks = 0
    while worker.is_alive():
        assert run_sql(address, f"{COUNT} where batch is null or batch > 0").rows == [(total,)]
        looks += 1
    worker.join()
    assert rows_left(address) == 0
    assert looks > 1


def test_one_process_at_a_time(address: PostgresAddress) -> None:
    closed_batches(address, 1, 10)
    with (
        place_of(address).compacting(),
        pytest.raises(StoreError, match="another process is compacting"),
    ):
        compact(address, CHAIN, now_s=time.time())
    assert compact(address, CHAIN, now_s=time.time()).moved_rows == 10


def test_who_was_overtaken_commits_nothing(address: PostgresAddress) -> None:
    """A process that stopped for longer than its lease, and wakes up."""
    with closing(Leases(address.url.value, lease_s=0.05)) as leases:
        old = leases.take("lake")
        assert old is not None
        turn = LakeLock(fence=f"lake:{old.token}", lease=(old.name, old.holder, old.token))
        with closing(Lake.open(address, lock=turn)) as lake:
            lake.execute("write_version", version=1)
            time.sleep(0.1)
            assert leases.take("lake") is not None
            with pytest.raises(StoreError, match="another process has taken over"):
                lake.execute("write_version", version=99)
            (found,) = lake.fetch("read_version", _Version)
            assert found.version < 99
        with closing(Lake.open(address)) as lake, pytest.raises(StoreError, match="of nobody"):
            lake.execute("write_version", version=99)


def test_a_range_that_another_wrote_meanwhile_is_not_written_twice(
    address: PostgresAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is stopped between its look at the lake and its commit, and then goes on."""
    bulk = BulkRange(chain_id=1, stream="back-fill", from_block=0, to_block=50)
    frames = {"transfers": transfers_of(many_events(50)), "tokens": tokens()}
    with closing(Lake.open(address)) as first, closing(Lake.open(address)) as second:

        def overtaken(paths: Iterator[Path]) -> None:
            monkeypatch.setattr(PUT_ON_DISK, put_on_disk)
            end_leases(address)
            append_transfers(second, bulk, **frames, stored=None)

        monkeypatch.setattr(PUT_ON_DISK, overtaken)
        with pytest.raises(StoreError, match="another process has taken over"):
            append_transfers(first, bulk, **frames, stored=None)
        assert [note.rows for note in list_bulks(first)] == [50]
        assert append_transfers(first, bulk, **frames, stored=None).rows == 0
    assert run_sql(address, COUNT).rows == [(50,)]


HOSTILE = (
    "select * from serving.watch",
    "select * from serving.public.report",
    "select * from serving.lease",
    "select * from serving.pg_catalog.pg_shadow",
    "select * from lake.transfer",
    "select * from __ducklake_metadata_lake.ducklake_data_file",
    "select * from duckdb_databases",
    "select * from duckdb_databases()",
    "select * from duckdb_secrets()",
    "select * from pragma_database_list",
    "select * from information_schema.tables",
    "select * from (with duckdb_databases as (select 1) from duckdb_databases), duckdb_databases",
    "with recursive pg_settings as (select 1 as a) select * from pg_settings",
    "with t as (from serving.watch) select * from t",
    "select (select max(secret) from serving.watch)",
    "select * from v_tokens where exists (from serving.refusal)",
    "select * from postgres_query('serving', 'select 1')",
    "select * from postgres_scan('', 'public', 'watch')",
    "select * from postgres_execute('serving', 'delete from token')",
    "call postgres_execute('serving', 'delete from token')",
    "select * from query('from serving.watch')",
    "select * from query_table('watch')",
    "select * from read_text('/etc/passwd')",
    "select * from 's3://bucket/object'",
    "attach '' as more (type postgres)",
    "delete from serving.token",
    "copy v_tokens to '/tmp/x.csv'",
    "show databases",
)


def test_an_analyst_reads_the_views_and_nothing_else(address: PostgresAddress) -> None:
    closed_batches(address, 1, 10)
    with closing(open_to_read(address, memory_mb=300)) as connection:

        def run(statement: str) -> list[tuple[object, ...]]:
            checked = check_statement(connection, statement, only_views=True)
            return connection.execute(checked).fetchall()

        for statement in HOSTILE:
            with pytest.raises(QueryError):
                run(statement)
        allowed = "with t as (select token from v_transfers) select count(*) from t, range(2)"
        assert run(allowed) == [(40,)]
        for view in load_views():
            assert run(f"describe {view}"), view
            assert run(describe_view(view)), view
    password = str(psycopg.conninfo.conninfo_to_dict(address.url.value)["password"])
    for statement in ("select * from serving.watch", "select * from duckdb_databases"):
        with pytest.raises(QueryError, match=r"cannot be read|can be read") as caught:
            run_sql(address, statement)
        assert password not in str(caught.value)


def test_a_statement_that_takes_too_long_is_ended_at_the_server_too(
    address: PostgresAddress,
) -> None:
    closed_batches(address, 1, 500)
    bounds = Bounds(time_limit_s=1)
    with pytest.raises(QueryError, match="took longer"):
        run_sql(address, "select count(*) from v_transfers a, v_transfers b, v_transfers c,"
            " v_transfers d", bounds)  # fmt: skip
    until_s = time.monotonic() + 5
    query = "select count(*) from pg_stat_activity where application_name like 'assay lake %'"
    with closing(PostgresServing(address)) as serving:
        while serving.execute(f"{query} and datname = current_database()").fetchone() != (0,):
            assert time.monotonic() < until_s, "its connections stay"
            time.sleep(0.05)


def test_a_lake_of_another_store_is_refused(
    address: PostgresAddress, empty_databases: EmptyDatabases, tmp_path: Path
) -> None:
    compact(address, CHAIN, now_s=time.time())
    with closing(PostgresServing(address)) as serving:
        serving.execute("update store_identity set store_id = 'another'")
    with pytest.raises(StoreError, match="of store another"):
        Lake.open(address)
    with pytest.raises(StoreError, match="of store another"):
        run_sql(address, COUNT)


def test_files_that_are_gone_are_an_error_and_not_less_rows(address: PostgresAddress) -> None:
    closed_batches(address, 1, 50)
    compact(address, CHAIN, now_s=time.time())
    shutil.rmtree(Path(address.lake) / "main" / "transfer")
    with pytest.raises((StoreError, QueryError)):
        run_sql(address, "select sum(amount_raw) from v_transfers")
