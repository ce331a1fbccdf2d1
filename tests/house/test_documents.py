"""Protects what is told to people: settings, targets, commands and the version."""

import ast
import re
import subprocess
import sys
import tomllib

import click

from assay.cli import COMMANDS, cli
from config.load import load_chains
from config.settings import SETTINGS
from tests.house.sources import PACKAGES, ROOT, parsed, python_files

README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGET = re.compile(r"^([a-z-]+):(?!=)", re.MULTILINE)


def section(title: str) -> str:
    """The text under a second-level heading of the README."""
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


def table_rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def in_toml(default: object) -> str:
    """As a deployment would write it."""
    if isinstance(default, tuple):
        return str(list(default))
    return str(default).lower() if isinstance(default, bool) else str(default)


def test_the_readme_documents_every_setting_as_it_is() -> None:
    documented = table_rows(section("Settings"))
    actual = [
        [
            f"`{row.name}`",
            f"`{row.env}`" if row.env else "",
            f"`{in_toml(row.default)}`" if row.default not in (None, "") else "",
            row.help,
        ]
        for row in SETTINGS
    ]
    assert documented == actual


def test_somebody_reads_every_setting() -> None:
    read = {
        node.attr
        for path in python_files(*PACKAGES)
        if path.name not in {"settings.py", "settings_model.py"}
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Attribute)
    }
    unread = [row.name for row in SETTINGS if row.name.rpartition(".")[2] not in read]
    assert not unread


def test_the_readme_lists_every_command() -> None:
    documented = {row[0].strip("`").split()[1] for row in table_rows(section("Commands"))}
    assert documented == set(COMMANDS)


def test_every_command_has_help_with_an_example() -> None:
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        assert command.help, name
        assert f"assay {name}" in command.help, name


def test_the_list_of_commands_says_what_they_say_of_themselves() -> None:
    """It is shown without importing them."""
    for name, text in COMMANDS.items():
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        assert command.help is not None
        assert " ".join(command.help.split()).startswith(text.rstrip(".")), name


def test_help_and_completion_import_no_command() -> None:
    """They are to appear at once."""
    script = (
        "import sys; from assay import cli as assay\n"
        "from click.testing import CliRunner\n"
        "assert CliRunner().invoke(assay.cli, ['--help']).exit_code == 0\n"
        "assert assay.cli.shell_complete(assay.click.Context(assay.cli), 's')\n"
        "print(*{name.partition('.')[0] for name in sys.modules})\n"
        "print(*(name for name in sys.modules if name.endswith('_command')))\n"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"polars", "duckdb", "litestar", "msgspec", "rich", "aiohttp"}
    assert not heavy & {*loaded}
    assert not [name for name in loaded if name.endswith("_command")]


def test_the_documents_know_the_names_of_the_chains() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    documented = table_rows(text.split("\n## Chains by name\n")[1].split("\n## ")[0])
    assert documented == [
        [
            chain.display_name,
            f"`{chain.slug}`",
            str(chain.id),
            ", ".join(f"`{alias}`" for alias in chain.aliases),
        ]
        for chain in load_chains(None)
    ]


def test_make_lists_every_target() -> None:
    listed = subprocess.run(
        ["make", "--no-print-directory", "help"],  # noqa: S607 - make is found where make is
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    targets = set(TARGET.findall(MAKEFILE))
    assert {line.split()[1] for line in listed.splitlines()} == targets
    assert set(MAKEFILE.split(".PHONY:")[1].splitlines()[0].split()) == targets


def test_the_readme_knows_the_make_targets_it_names() -> None:
    targets = set(TARGET.findall(MAKEFILE))
    assert set(re.findall(r"`make ([a-z]+)`", README)) <= targets


def test_the_changelog_starts_with_the_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    head = next(line for line in changelog.splitlines() if line.startswith("## "))
    assert head.split()[1] == project["version"]


def test_every_decision_is_short_and_complete() -> None:
    decisions = (ROOT / "DECISIONS.md").read_text(encoding="utf-8").split("\n## ")[1:]
    for decision in decisions:
        lines = [line for line in decision.splitlines() if line]
        assert len(lines) <= 12, lines[0]
        for part in ("Question:", "Choice:", "Tried:", "Would change it:"):
            assert part in decision, f"{lines[0]}: {part}"
