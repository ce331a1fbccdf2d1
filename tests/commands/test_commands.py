"""Protects the operator's terminal: names of callers and tokens are shown, not obeyed."""

import io
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from assay import cli
from assay.commands.runs.run_sql import Output, write_text
from sql.accounts.ledger import Ledger
from sql.analyst.answer_lines import AnswerLine, ColumnNames, End, ResultRow
from sql.analyst.query_runner import OpenResult
from tests.harness.api.sample_reports import MINED_AT_S
from tests.harness.api.world import PLANS

pytestmark = pytest.mark.process

NASTY = "\x1b]0;owned\x07\x9b2J\u202e[red]x[/y]"
SHOWN = r"\u001b]0;owned\u0007\u009b2J\u202e[red]x[/y]"


def run(*arguments: str, store: Path) -> str:
    ended = CliRunner().invoke(cli.cli, arguments, env={"ASSAY_STORE": str(store)})
    assert ended.exit_code == 0, ended.output
    return ended.output


def test_the_list_of_keys_shows_reasons_as_text(tmp_path: Path) -> None:
    store = tmp_path / "assay.duckdb"
    run("keys", "list", store=store)
    (file,) = tmp_path.glob("*.sqlite")
    with closing(Ledger.open(file)) as ledger:
        ledger.create_key(PLANS["pro"], NASTY, MINED_AT_S)
        ledger.issue_trial("192.0.2.1", NASTY, NASTY, PLANS["trial"], MINED_AT_S)
    listed = run("keys", "list", store=store)
    assert all(line.isprintable() for line in listed.splitlines())
    assert SHOWN in listed
    assert [msgspec.json.decode(line)["label"] for line in listed.splitlines()] == [NASTY] * 2


@pytest.mark.parametrize("output", ["table", "json", "csv"])
def test_rows_of_sql_are_shown_as_text(output: Output) -> None:
    """A token's name is neither markup nor a command, in a table and in lines."""
    lines: list[AnswerLine] = [
        ColumnNames(columns=("name",)),
        ResultRow(row=(NASTY,)),
        End(truncated=False),
    ]
    result = OpenResult(iter(lines))
    result.start()
    out = io.StringIO()
    write_text(result, out, output)
    shown = out.getvalue()
    assert SHOWN in shown
    for sequence in ("\x1b]", "\x07", "\x9b", "\u202e"):
        assert sequence not in shown
