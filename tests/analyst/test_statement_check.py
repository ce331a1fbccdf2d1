"""Protects a store from statements: everything except one plain SELECT is refused, by its tree."""

import duckdb
import pytest

from core.errors import QueryError
from sql.analyst.statement_check import check_statement
from sql.engine.store_files import StoreFiles
from sql.lake.open_store import open_to_read

REFUSED = [
    "delete from serving.block",
    "insert into lake.moved select * from lake.moved returning 1",
    "update serving.block set number = 1",
    "drop table serving.block",
    "create temp table t (a int)",
    "copy (select 1) to 'out.csv'",
    "attach 'other.db'",
    "install httpfs",
    "load httpfs",
    "set threads = 1",
    "pragma force_checkpoint",
    "call enable_logging()",
    "checkpoint",
    "begin",
    "explain analyze delete from serving.block",
    "prepare p as delete from serving.block",
    "select 1; delete from serving.block",
    "",
    "-- nothing",
    "selec 1",
    "select nothing from v_tokens",
    "select * from read_text('pyproject.toml')",
    "select * from 'pyproject.toml'",
    "select * from 'lake/**/*.parquet'",
    "select * from glob('*')",
    "select * from force_checkpoint()",
    "select * from enable_logging()",
    "from enable_logging(storage = 'file', storage_path = 'log')",
    "select (select 1 from disable_logging())",
    "with a as (select * from enable_logging()) select 1 from a",
    "select * from query('select * from enable_logging()')",
    "select * from query_table('v_tokens')",
    "select * from sqlite_query('serving', 'delete from block')",
    "select * from sqlite_scan('other', 'block')",
    "select * from ducklake_expire_snapshots('lake', older_than => now())",
    "select * from json_execute_serialized_sql(json_serialize_sql('select 1'))",
    "select getenv('HOME')",
    "select * from parquet_metadata('x')",
    "select url from serving.watch",
    'from serving.main."WATCH"',
    "select (select max(secret) from serving.watch)",
    "summarize serving.watch",
    "select * from (summarize select * from serving.watch)",
    "with a as (table serving.watch) from a",
]

ALLOWED = [
    "select * from v_transfers limit 1",
    "from v_tokens select symbol",
    "with recursive n as (select 1 as a union all select a + 1 from n where a < 5) from n",
    "select list_transform([1, 2], lambda x: x + 1), [y for y in range(3)]",
    "describe v_tokens",
    "show tables",
    "summarize v_pools",
    "values (1), (2)",
    "select * from unnest([1, 2]), generate_series(1, 2), range(2)",
    "from v_tokens pivot (count(*) for tracked_because in ('pool'))",
    "select table_name from information_schema.tables",
    "select view_name from duckdb_views() where not internal",
    "select $$enable_logging()$$ as text",
]


@pytest.fixture(scope="module")
def reader(store: StoreFiles) -> duckdb.DuckDBPyConnection:
    return open_to_read(store, memory_mb=300)


@pytest.mark.parametrize("sql", REFUSED)
def test_all_but_one_plain_select_is_refused(sql: str, reader: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(
        (
            QueryError,
            duckdb.ParserException,
            duckdb.CatalogException,
            duckdb.BinderException,
            duckdb.PermissionException,
        )
    ):
        reader.execute(check_statement(reader, sql))
    assert reader.execute("select count(*) from v_trades").fetchall() == [(3,)]


@pytest.mark.parametrize("sql", ALLOWED)
def test_what_reads_is_run(sql: str, reader: duckdb.DuckDBPyConnection) -> None:
    assert reader.execute(check_statement(reader, sql)).fetchall()


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_text('/etc/hostname')",
        "set enable_external_access = true",
        "set lock_configuration = false",
        "attach '/tmp/other.db'",
        "copy (select 1) to '/tmp/out.csv'",
        "delete from serving.block",
        "delete from lake.moved",
    ],
)
def test_what_passed_the_check_by_mistake_would_fail_all_the_same(
    sql: str, store: StoreFiles
) -> None:
    with open_to_read(store, memory_mb=300) as reader, pytest.raises(duckdb.Error):
        reader.execute(sql)
