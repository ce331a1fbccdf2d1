"""Protects `assay sql`: complete results in every form; a file is whole or absent."""

import csv
import io
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result

from assay import cli
from core.errors import QueryError
from sql.engine.store_files import StoreFiles
from sql.lake.open_store import load_views
from tests.house.sources import ROOT

pytestmark = pytest.mark.process

MANY = "select range as n, 'a,' || range as text from range(23456)"


def run(store: StoreFiles, *arguments: str, stdin: str | None = None) -> Result:
    """Run the command in this process; its statement has a separate one as always."""
    return CliRunner().invoke(
        cli.cli, ["sql", *arguments], env={"ASSAY_STORE": str(store.prefix)}, input=stdin
    )


def ask(store: StoreFiles, *arguments: str, stdin: str | None = None) -> str:
    ended = run(store, *arguments, stdin=stdin)
    assert ended.exit_code == 0, (ended.output, ended.exception)
    return ended.stdout


def test_all_rows_come_in_every_form(store: StoreFiles, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in ask(store, MANY).splitlines()]
    expected = [[number, f"a,{number}"] for number in range(23_456)]
    assert lines == [["n", "text"], *expected]
    cells = list(csv.reader(io.StringIO(ask(store, "--output", "csv", MANY))))
    assert cells == [["n", "text"], *([str(number), text] for number, text in expected)]
    path = tmp_path / "many.parquet"
    assert ask(store, "--output", "parquet", "--to", str(path), MANY) == ""
    table = duckdb.connect().read_parquet(str(path))
    assert dict(zip(table.columns, map(str, table.types), strict=True)) == {
        "n": "BIGINT",
        "text": "VARCHAR",
    }
    assert list(map(list, table.fetchall())) == expected


def test_an_error_points_into_the_statement_line_by_line(store: StoreFiles) -> None:
    command = (sys.executable, "-m", "assay", "sql", "select nothing_like\nfrom v_tokens")
    env = {**os.environ, "ASSAY_STORE": str(store.prefix)}
    ended = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert r"\u000a" not in ended.stderr
    assert "LINE 1: select nothing_like" in ended.stderr.splitlines()


def test_a_table_has_every_row(store: StoreFiles) -> None:
    shown = ask(store, "--output", "table", "select 'row ' || range as r from range(1234)")
    assert shown.count("row ") == 1234
    assert "row 1233" in shown
    assert ask(store, "--output", "table", "select 1 as only where false").count("only") == 1


@pytest.mark.parametrize("output", ["json", "csv", "parquet"])
def test_a_limit_is_kept_and_told(store: StoreFiles, tmp_path: Path, output: str) -> None:
    path = tmp_path / "out"
    ended = run(store, "--limit", "15000", "--output", output, "--to", str(path), MANY)
    assert ended.exit_code == 0
    assert "only the first 15000 rows" in ended.stderr
    rows = (
        len(duckdb.connect().read_parquet(str(path)).fetchall())
        if output == "parquet"
        else len(path.read_text(encoding="utf-8").splitlines()) - 1
    )
    assert rows == 15_000
    assert [file.name for file in tmp_path.iterdir()] == ["out"]
    exact = run(store, "--limit", "23456", "--output", output, "--to", str(path), MANY)
    assert "only" not in exact.stderr


def test_a_statement_comes_from_standard_input(store: StoreFiles) -> None:
    assert ask(store, "-", stdin="select 1\n + 1 as two\n;\n") == '["two"]\n[2]\n'


def test_a_file_is_written_whole_or_not_at_all(store: StoreFiles, tmp_path: Path) -> None:
    path = tmp_path / "kept.csv"
    path.write_text("before", encoding="utf-8")
    fails_late = (
        "select case when range = 100000 then error('late') else range end from range(100001)"
    )
    for output in ("csv", "parquet"):
        ended = run(store, "--output", output, "--to", str(path), fails_late)
        assert isinstance(ended.exception, QueryError)
        assert "late" in ended.exception.reason
        assert [file.name for file in tmp_path.iterdir()] == ["kept.csv"]
        assert path.read_text(encoding="utf-8") == "before"


def test_a_file_that_cannot_be_written_is_a_clear_error(store: StoreFiles, tmp_path: Path) -> None:
    for output in ("json", "parquet"):
        ended = run(store, "--output", output, "--to", str(tmp_path / "no" / "x"), "select 1")
        assert ended.exit_code == 1
        assert "Could not open file" in ended.stderr


def test_times_keep_their_zone(store: StoreFiles, tmp_path: Path) -> None:
    statement = "select '2026-11-23 10:00:00+02'::timestamptz as moment, [moment] as nested"
    (_, row) = [json.loads(line) for line in ask(store, statement).splitlines()]
    (nested,) = row[1]
    moments = [datetime.fromisoformat(text) for text in (row[0], nested)]
    assert moments == [datetime(2026, 11, 23, 8, tzinfo=UTC)] * 2
    path = tmp_path / "times"
    ask(store, "--output", "parquet", "--to", str(path), statement)
    table = duckdb.connect().read_parquet(str(path))
    assert [str(kind) for kind in table.types] == [
        "TIMESTAMP WITH TIME ZONE",
        "TIMESTAMP WITH TIME ZONE[]",
    ]


def test_a_bound_on_bytes_holds_for_parquet_as_well(
    store: StoreFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "settings.toml").write_text("[sql]\nmax_bytes = 50000\n", encoding="utf-8")
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path))
    path = tmp_path / "long.parquet"
    ended = run(store, "--output", "parquet", "--to", str(path), MANY)
    assert isinstance(ended.exception, QueryError)
    assert ended.exception.limit == "bytes"
    assert [file.name for file in tmp_path.iterdir()] == ["settings.toml"]


@pytest.mark.parametrize(
    "arguments",
    [(), ("select 1", "--describe"), ("--output", "parquet", "select 1"), ("--limit", "-1", "-")],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(store: StoreFiles, arguments: tuple[str, ...]) -> None:
    assert run(store, *arguments).exit_code == 2


def test_views_and_columns_are_described(store: StoreFiles) -> None:
    heads, *views = [json.loads(line) for line in ask(store, "--describe").splitlines()]
    assert heads == ["view", "about"]
    assert {view for view, _ in views} == set(load_views())
    columns = [json.loads(line) for line in ask(store, "--describe", "v_holders").splitlines()]
    assert columns[0] == ["column", "type", "about"]
    assert columns[-1] == [
        "held_pct",
        "DOUBLE",
        "Share of the supply, in percent. NULL: the supply is zero.",
    ]
    ended = run(store, "--describe", "v_holder")
    assert isinstance(ended.exception, QueryError)
    assert "v_holders" in ended.exception.reason


@pytest.mark.parametrize("output", ["json", "parquet"])
def test_a_long_result_is_not_held(store: StoreFiles, tmp_path: Path, output: str) -> None:
    """Less than half of 200 MB of text is ever in memory."""
    program = (
        "import re, sys; from pathlib import Path;"
        "from assay.commands.runs.run_sql import run_sql;"
        "told = lambda: Path('/proc/self/status').read_text();"
        "peak = lambda: int(re.search('VmHWM: *\\t *([0-9]+)', told())[1]);"
        "before = peak();"
        "run_sql(statement=sys.argv[1], view=None, limit=None, output=sys.argv[2],"
        " path=Path(sys.argv[3]));"
        "print(peak() - before)"
    )
    statement = "select repeat('x', 990) || range as text from range(200000)"
    path = tmp_path / "long"
    ended = subprocess.run(
        [sys.executable, "-c", program, statement, output, str(path)],
        env={"ASSAY_STORE": str(store.prefix), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr.decode()[-2000:]
    assert int(ended.stdout) < 100_000  # KB
    found = duckdb.connect().execute(
        "select count(*) from read_parquet($1)"
        if output == "parquet"
        else "select count(*) - 1 from read_csv($1, header = false, sep = '\t')",
        [str(path)],
    )
    assert found.fetchall() == [(200_000,)]
