"""Protects the operator's terminal: names are shown, not obeyed, and errors state the next step."""

import io
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from assay import cli
from assay.cli import next_step
from assay.commands.runs.run_sql import Output, write_text
from core.errors import (
    AssayError,
    ConfigError,
    InternalError,
    InvalidAddressError,
    QueryError,
    StoreError,
    TokenRefusedError,
    UpstreamError,
    WrongChainError,
)
from sql.accounts.ledger import Ledger
from sql.analyst.answer_lines import AnswerLine, ColumnNames, End, ResultRow
from sql.analyst.query_runner import OpenResult
from tests.harness.api.sample_reports import MINED_AT_S
from tests.harness.api.world import PLANS

NASTY = "\x1b]0;owned\x07\x9b2J\u202e[red]x[/y]"

SHOWN = r"\u001b]0;owned\u0007\u009b2J\u202e[red]x[/y]"


def run(*arguments: str, store: Path) -> str:
    ended = CliRunner().invoke(cli.cli, arguments, env={"ASSAY_STORE": str(store)})
    assert ended.exit_code == 0, ended.output
    return ended.output


@pytest.mark.process
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


@pytest.mark.process
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


# --- command errors -----------------------------------------------------------------------------

STEPS: list[tuple[AssayError, str | None]] = [
    (InvalidAddressError(text="0x1"), "assay scan eth 0x"),
    (TokenRefusedError(code="not_a_contract", reason="no code"), "assay scan base 0x"),
    (TokenRefusedError(code="not_a_token", reason="a pool"), "assay scan eth 0x"),
    (TokenRefusedError(code="burn_address", reason="burns"), "assay scan eth 0x"),
    (TokenRefusedError(code="invalid_token_data", reason="decimals"), None),
    (QueryError(reason="took too long", limit="time"), "assay sql"),
    (QueryError(reason="syntax error"), None),
    (WrongChainError(service="node", expected=1, got=56), "export ASSAY_RPC_56=https://"),
    (UpstreamError(service="a service of no chain", reason="refused"), None),
    (ConfigError(source="listen address", key="127.0.0.1:80", reason="in use"), "--port 8001"),
    (ConfigError(source="environment", key="ASSAY_RPC_56", reason="not set"), "ASSAY_RPC_56=http"),
    (ConfigError(source="environment", key="ASSAY_RPC_<chain id>", reason=""), "ASSAY_RPC_1=http"),
    (ConfigError(source="chains/ethereum.toml", key="chain.id", reason="wrong"), None),
    (StoreError(path="x", reason="there is no such store"), "export ASSAY_STORE="),
    (StoreError(path="x", reason="disk full"), None),
    (InternalError("bug"), None),
]


@pytest.mark.parametrize(("error", "step"), STEPS)
def test_what_to_do_next(error: AssayError, step: str | None) -> None:
    advice = next_step(error)
    assert advice is None if step is None else advice is not None and step in advice


@pytest.mark.parametrize(
    ("arguments", "env", "code", "parts"),
    [
        (("scan", "eth", "0x1"), {}, 1, ("error: ", "ASSAY_RPC_1", "next: export ASSAY_RPC_1=")),
        (("scan", "ether", "0x1"), {}, 2, ("ethereum (1, eth)", "Example: ASSAY_RPC_1=")),
        (("scan", "BSC", "0x1"), {}, 1, ("BNB Chain needs a node", "next: export ASSAY_RPC_56=")),
        (("scan", "1", "0x1"), {"ASSAY_RPC_1": "http://127.0.0.1:9"}, 3, ("refused: ", "next: ")),
        (
            ("scan", "bsc", f"0x{'12' * 20}"),
            {"ASSAY_RPC_56": "ws://127.0.0.1:9,http://127.0.0.1:9"},
            1,
            ("next: check the node", "assay doctor 56"),
        ),
        (
            ("index", "bsc", "--from", "1", "--to", "2"),
            {"ASSAY_RPC_56": "http://127.0.0.1:9"},
            1,
            ("assay doctor 56",),
        ),
        (("index", "base"), {}, 1, ("next: export ASSAY_RPC_8453=",)),
        (
            ("index", "eth", "--from", "900", "--to", "10"),
            {},
            2,
            ("block 10, before", "900", "Exa"),
        ),
        (("index",), {}, 2, ("Missing argument", "Example: assay index")),
        (("serve",), {}, 1, ("no chain can be served", "next: export ASSAY_RPC_1=")),
        (("sql", "select 1"), {}, 1, ("no such", "next: name the store")),
        (("status",), {}, 1, ("no such", "next: name the store")),
        (("compact", "nowhere"), {}, 2, ("chain_8453 (8453, base)", "Example: assay compact")),
        (
            ("keys", "create", "--plan", "x", "--label", "y"),
            {},
            2,
            ("trial", "Example: assay keys"),
        ),
        (("sacn",), {}, 2, ("Did you mean 'scan'?", "Example: assay scan")),
        (("zzz",), {}, 2, ("No such command 'zzz'", "Example: assay scan")),
    ],
)
def test_a_failed_command_says_it(
    arguments: tuple[str, ...],
    env: dict[str, str],
    code: int,
    parts: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("ASSAY_RPC_1", "ASSAY_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"ASSAY_STORE": str(tmp_path / "store"), **env}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    said = capsys.readouterr().err
    assert ended.value.code == code, said
    for part in parts:
        assert part in said
    assert "Traceback" not in said


def test_the_version_is_told() -> None:
    completed = CliRunner().invoke(cli.cli, ["--version"])
    assert (completed.exit_code, completed.output.split()[0]) == (0, "assay")


@pytest.mark.parametrize(
    "arguments",
    [("--log-format", "json", "keys", "list"), ("keys", "--log-format", "text", "list")],
)
def test_the_form_of_the_log_is_said_before_the_command_or_after(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    ended = CliRunner().invoke(cli.cli, arguments, env={"ASSAY_STORE": str(tmp_path / "store")})
    assert ended.exit_code == 0, ended.output
