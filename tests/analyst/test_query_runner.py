"""Protects SQL for analysts: bounded statements that name a met bound and change nothing."""

from pathlib import Path

import pytest

from core.errors import QueryError, StoreError
from sql.analyst.bounds import Bounds
from sql.analyst.query_runner import run_sql
from sql.engine.store_files import StoreFiles
from tests.analyst.conftest import Ask

pytestmark = pytest.mark.process

REFUSED = [
    "delete from serving.block",
    "select nothing from v_tokens",
    "select * from read_text('pyproject.toml')",
    "select * from enable_logging()",
]


def test_a_select_is_answered(ask: Ask) -> None:
    result = ask("select number, hash, null as nothing, [1, 2] as list from v_checkpoints limit 1")
    assert result.columns == ("number", "hash", "nothing", "list")
    assert list(map(list, result.rows)) == [[7, "0x00ab", None, [1, 2]]]
    assert not result.truncated


@pytest.mark.parametrize("sql", REFUSED)
def test_all_but_one_plain_select_is_refused(ask: Ask, sql: str) -> None:
    with pytest.raises(QueryError) as caught:
        ask(sql)
    assert caught.value.limit is None


def test_nothing_was_changed_by_what_was_refused(ask: Ask) -> None:
    assert ask("select count(*) from v_transfers").rows == [(60,)]
    assert ask("select name from pragma_table_info('v_coverage')").rows[0] == ("chain",)
    assert ask("describe select 1 as one").rows[0][:2] == ("one", "INTEGER")


def test_rows_are_bounded_and_it_says_so(ask: Ask) -> None:
    result = ask("from range(2000) select range", Bounds(max_rows=1_200))
    assert result.rows == [(at,) for at in range(1_200)]
    assert result.truncated
    whole = ask("from range(2000) select range", Bounds(max_rows=2_000))
    assert not whole.truncated
    timed = ask("select now() from range(20)", Bounds(max_rows=5))
    assert (len(timed.rows), timed.truncated) == (5, True)
    with pytest.raises(QueryError) as caught:
        ask("from range(2000) select range", Bounds(max_rows=10, cuts_rows=False))
    assert caught.value.limit == "rows"


def test_time_is_bounded(ask: Ask) -> None:
    endless = "select count(*) from range(1000000000000)"
    with pytest.raises(QueryError, match=r"took longer than 0\.2 s") as caught:
        ask(endless, Bounds(time_limit_s=0.2))
    assert caught.value.limit == "time"


@pytest.mark.parametrize(
    "sql",
    [
        "select array_agg(range) from range(1000000000)",
        "select repeat('x', 2000000000) as long from range(3)",
        "select count(distinct repeat('x', 1000) || range) from range(10000000)",
    ],
)
def test_memory_is_bounded(ask: Ask, sql: str) -> None:
    with pytest.raises(QueryError, match="more memory than 200 MB") as caught:
        ask(sql, Bounds(memory_mb=200, time_limit_s=20))
    assert caught.value.limit == "memory"


def test_bytes_are_bounded(ask: Ask) -> None:
    with pytest.raises(QueryError, match="more than 100000 bytes") as caught:
        ask("select repeat('x', 1000) from range(900)", Bounds(max_bytes=100_000))
    assert caught.value.limit == "bytes"


def test_every_value_is_one_that_json_carries(ask: Ask) -> None:
    values: dict[str, object] = {
        "9223372036854775807": 2**63 - 1,
        "9223372036854775808": "9223372036854775808",
        "170141183460469231731687303715884105727": "170141183460469231731687303715884105727",
        "'1" + "0" * 60 + "'::bignum": "1" + "0" * 60,
        "1.5::double": 1.5,
        "'nan'::double": "nan",
        "'ab'::blob": "0x6162",
        "'a' || chr(0) || 'b'": "a\0b",
        "1.50::decimal(9, 2)": "1.50",
        "date '2026-11-21'": "2026-11-21",
        "timestamp '2026-11-21 01:02:03'": "2026-11-21 01:02:03",
        "{'a': 1::hugeint}": {"a": 1},
        "map {1: 2}": {"1": 2},
        "true": True,
    }
    (row,) = ask("select " + ", ".join(values)).rows
    assert list(row) == list(values.values())
    assert [type(found) for found in row] == [type(value) for value in values.values()]


def test_a_store_that_is_not_there_is_the_stores_fault(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such file"):
        run_sql(tmp_path / "absent", "select 1")


def test_a_file_that_is_none_of_ours_is_the_stores_fault(tmp_path: Path) -> None:
    files = StoreFiles(prefix=tmp_path / "assay")
    files.serving.write_text("not a database\n" * 1_000)
    with pytest.raises(StoreError):
        run_sql(files.prefix, "select 1")
