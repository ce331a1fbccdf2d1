"""Protects SQL for analysts: it answers through either door, in bounds, and changes nothing."""

import asyncio
import socket
import stat
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from core.errors import QueryError, StoreError
from sql.blocks import list_blocks
from sql.console import run_sql, serve_console, socket_path
from sql.query import Bounds, QueryResult
from sql.reports import write_report
from sql.store import Store
from tests.sql.processes import read_line, start
from tests.sql.samples import address, bare_report, block

Ask = Callable[..., "asyncio.Future[QueryResult]"]

REFUSED = [
    "delete from block",
    "insert into block by name select * from block returning 1",
    "update block set number = 1",
    "drop table block",
    "create temp table t (a int)",
    "copy block to 'out.csv'",
    "attach 'other.db'",
    "install httpfs",
    "set threads = 1",
    "pragma force_checkpoint",
    "checkpoint",
    "begin",
    "explain analyze delete from block",
    "prepare p as delete from block",
    "select 1; delete from block",
    "",
    "-- nothing",
    "selec 1",
    "select nothing from block",
    "select * from read_text('pyproject.toml')",
    "select * from 'pyproject.toml'",
    "select * from glob('*')",
    "select * from force_checkpoint()",
]


@pytest.fixture(params=["through its owner", "without one"])
async def ask(request: pytest.FixtureRequest, path: Path) -> AsyncIterator[Ask]:
    """A store with one block, asked in one of the two ways."""
    store = Store.open(path)
    with store.transaction() as tx:
        tx.insert("block", [block(7)])
    write_report(store, bare_report(address(0xA), scanned_at_s=3))

    def run(sql: str, bounds: Bounds | None = None) -> "asyncio.Future[QueryResult]":
        return asyncio.ensure_future(asyncio.to_thread(run_sql, path, sql, bounds))

    if request.param == "without one":
        store.close()
        yield run
        return
    async with serve_console(store, path):
        yield run
        assert list_blocks(store, chain_id=1) == [block(7)]
    store.close()


async def test_a_select_is_answered(ask: Ask) -> None:
    result = await ask("select number, hash, null as nothing, [1, 2] as list from block")
    assert result.columns == ("number", "hash", "nothing", "list")
    assert list(map(list, result.rows)) == [[7, block(7).hash, None, [1, 2]]]
    assert not result.truncated


@pytest.mark.parametrize("sql", REFUSED)
async def test_all_but_one_plain_select_is_refused(ask: Ask, sql: str) -> None:
    with pytest.raises(QueryError):
        await ask(sql)
    assert (await ask("select count(*) from block")).rows == [(1,)]


async def test_rows_are_bounded_and_it_says_so(ask: Ask) -> None:
    result = await ask("from range(2000) select range", Bounds(max_rows=1_200))
    assert result.rows == [(at,) for at in range(1_200)]
    assert result.truncated
    whole = await ask("from range(2000) select range", Bounds(max_rows=2_000))
    assert not whole.truncated
    timed = await ask("select now() from range(20)", Bounds(max_rows=5))
    assert (len(timed.rows), timed.truncated) == (5, True)


async def test_time_is_bounded(ask: Ask) -> None:
    endless = "select count(*) from range(1000000000000)"
    with pytest.raises(QueryError, match=r"took longer than 0\.2 s"):
        await ask(endless, Bounds(time_limit_s=0.2))
    assert (await ask("select 1")).rows == [(1,)]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", "9223372036854775808"),
        ("170141183460469231731687303715884105727", "170141183460469231731687303715884105727"),
        ("'1" + "0" * 60 + "'::bignum", "1" + "0" * 60),
        ("1.5::double", 1.5),
        ("'nan'::double", "nan"),
        ("'ab'::blob", "0x6162"),
        ("1.50::decimal(9, 2)", "1.50"),
        ("date '2026-11-21'", "2026-11-21"),
        ("timestamp '2026-11-21 01:02:03'", "2026-11-21 01:02:03"),
        ("{'a': 1::hugeint}", {"a": 1}),
        ("map {1: 2}", {"1": 2}),
        ("true", True),
    ],
)
async def test_every_value_is_one_that_json_carries(ask: Ask, sql: str, expected: object) -> None:
    (row,) = (await ask(f"select {sql} as value")).rows
    assert row[0] == expected
    assert type(row[0]) is type(expected)


async def test_every_view_answers(ask: Ask) -> None:
    views = await ask("select view_name from duckdb_views() where not internal order by 1")
    names = [str(row[0]) for row in views.rows]
    assert {"v_pools", "v_tokens", "v_findings", "v_transfers", "v_holders", "v_launches"} <= set(
        names
    )
    assert {"v_coverage", "v_checkpoints"} <= set(names)
    for name in names:
        assert (await ask(f"from {name}")).columns
    supply = await ask("select chain, address, symbol, supply from v_tokens")
    assert supply.rows == [(1, address(0xA), "TKN", 1e6)]
    findings = await ask("select key, value from v_findings where key like 'is_%' order by key")
    assert findings.rows == [
        ("is_launchpad_token", None),
        ("is_open_source", None),
        ("is_proxy", None),
    ]


async def test_the_door_is_its_owners_alone_and_goes_when_closed(store: Store, path: Path) -> None:
    async with serve_console(store, path):
        mode = socket_path(path).stat().st_mode
        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o600
    assert not socket_path(path).exists()


async def test_a_door_left_by_a_crash_is_no_door(store: Store, path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(socket_path(path)))
    async with serve_console(store, path):
        assert (await asyncio.to_thread(run_sql, path, "select 1")).rows == [(1,)]
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(socket_path(path)))
    store.close()
    assert run_sql(path, "select 2").rows == [(2,)]


async def test_a_path_too_long_for_a_socket_has_a_short_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("long" * 30)
    path = folder / "assay.duckdb"
    store = Store.open(path)
    async with serve_console(store, path):
        assert len(str(socket_path(path))) <= 100
        assert (await asyncio.to_thread(run_sql, path, "select 1")).rows == [(1,)]
    store.close()
    short = tmp_path / "tmp"
    (short / f"assay-{path.stat().st_uid}").mkdir(parents=True, mode=0o777)
    (short / f"assay-{path.stat().st_uid}").chmod(0o777)
    monkeypatch.setattr("tempfile.tempdir", str(short))
    with pytest.raises(StoreError, match="others may write there"):
        socket_path(path)


async def test_what_is_no_question_is_answered_as_such(store: Store, path: Path) -> None:
    async with serve_console(store, path):
        for question in (b"{}\n", b"nonsense\n", b"x" * (2 << 20) + b"\n"):
            reader, writer = await asyncio.open_unix_connection(str(socket_path(path)))
            writer.write(question)
            answer = await reader.readline()
            assert b"not a question" in answer
            writer.close()


def test_an_owner_without_a_door_is_named(path: Path) -> None:
    with start("stop_inside_a_transaction", path) as owner:
        assert read_line(owner) == "inside"
        with pytest.raises(StoreError, match="another process owns it"):
            run_sql(path, "select 1")
        owner.kill()
    assert run_sql(path, "select count(*) from undecoded").rows == [(200,)]
