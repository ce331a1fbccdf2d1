"""Protects help and completion in a shell: they know every name, and import no more than that."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.static.printers import PRINTERS
from assay.cli import COMMANDS, MODULES
from assay.commands import token_commands
from config.facts.chain_names import names_of
from config.facts.load_chains import load_chains
from tests.house.sources import ROOT

pytestmark = pytest.mark.process

HEAVY = {
    *("msgspec", "rich", "structlog", "litestar", "duckdb", "numpy", "web3", "eth_abi", "aiohttp"),
    *("analysis", "api", "indexer", "sql"),
    *("assay.service", "assay.demo", "assay.doctor", "assay.commands.runs"),
}
SPLIT = sorted({*MODULES} - {"keys_command"})
"""Modules of commands whose work is in another module."""


def complete(words: str, env: dict[str, str] | None = None) -> list[str]:
    """Return bash's suggestions behind these words."""
    completion_env = {
        **os.environ,
        "_ASSAY_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
        **(env or {}),
    }
    said = subprocess.run(
        [sys.executable, "-m", "assay"],
        cwd=ROOT,
        env=completion_env,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.partition(",")[2] for line in said.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("assay s", ["scan", "serve", "sql", "static", "status"]),
        ("assay scan a", ["arb", "arbitrum", "avalanche", "avax"]),
        ("assay index BA", ["base"]),
        ("assay compact rob", ["robinhood"]),
        ("assay scan eth 0x --output ", ["card", "json", "csv"]),
        ("assay scan eth 0x --format e", ["evidence"]),
        ("assay static --print s", ["storage"]),
        ("assay serve --l", ["--log-format"]),
        ("assay keys c", ["create"]),
    ],
)
def test_a_shell_is_offered(words: str, offered: list[str]) -> None:
    assert complete(words) == offered


def test_every_name_of_a_chain_but_its_number_is_offered(tmp_path: Path) -> None:
    (tmp_path / "chains").mkdir()
    (tmp_path / "chains" / "ethereum.toml").write_text('[chain]\naliases = ["mainnet"]\n')
    named = [name for chain in load_chains(tmp_path) for name in names_of(chain)]
    names = [name for name in named if not name.isdecimal()]
    assert complete("assay scan ", {"ASSAY_CONFIG": str(tmp_path)}) == sorted(names)
    assert "mainnet" in names


def test_help_and_completion_of_a_command_import_nothing_of_its_work() -> None:
    script = (
        "import sys\nfrom importlib import import_module\n"
        f"for name in {SPLIT}: import_module(f'assay.commands.{{name}}')\n"
        "from assay.commands.chain_argument import CHAIN\n"
        "assert CHAIN.shell_complete(None, None, 'eth')\n"
        "print(*sys.modules)\n"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not HEAVY & {*loaded.stdout.split()}


@pytest.mark.parametrize(
    ("arguments", "needed", "others"),
    [
        (
            ["index", "ethereum", "--from", "1", "--to", "2"],
            {"structlog", "duckdb"},
            {"rich", "litestar", "polars"},
        ),
        (
            ["scan", "ethereum", f"0x{'12' * 20}"],
            {"aiohttp", "evmole"},
            {"duckdb", "eth_abi", "eth_utils", "litestar", "parsimonious", "pydantic", "rich"},
        ),
    ],
)
def test_a_command_starts_without_what_few_runs_need(
    arguments: list[str], needed: set[str], others: set[str]
) -> None:
    script = (
        "import sys\nfrom assay import cli\n"
        f"try: cli.main({arguments})\n"
        "except SystemExit: print(*{name.partition('.')[0] for name in sys.modules})\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "ASSAY_RPC_1" in ended.stderr, "it was about to begin"
    assert needed <= {*ended.stdout.split()}
    assert not others & {*ended.stdout.split()}


def test_the_printers_are_those_that_there_are() -> None:
    assert sorted(PRINTERS) == sorted(token_commands.PRINTERS)


def test_every_command_has_a_module() -> None:
    assert sorted(name for names in MODULES.values() for name in names) == sorted(COMMANDS)
