"""Protects the documents: sizes, generated pages, commands, make targets and the version."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from assay.cli import COMMANDS, cli
from config.facts.load_chains import load_chains
from config.load_settings import SETTINGS
from docs.site.written_pages import PAGES
from tests.house.prose import find_rules_broken
from tests.house.sources import PACKAGES, ROOT, nodes_of, python_files

pytestmark = pytest.mark.process

README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
CHANGES = (
    *("chain", "detector", "event", "field", "launchpad"),
    *("metric", "route", "setting", "venue"),
)
DECISIONS = ROOT / "docs" / "decisions"
DOCUMENTS = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
)
GENERATED = {*PAGES}
HAND_WRITTEN = [page for page in DOCUMENTS if page not in GENERATED]
FENCED = re.compile(r"```.*?```", re.DOTALL)
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|md|toml|sql|sol|yml|json|cjs|xz)|(?:[\w.-]+/)+)`")
EXAMPLES = {
    "export/",
    "analysis/static/detectors/has_delegatecall.py",
    "tests/cases/has_delegatecall/found/",
    "analysis/market/venues/families/tide.py",
    "config/pool_families/tide.toml",
    "api/formats/resources/freshness_format.py",
    "indexer/decode/pause_events.py",
    "sql/chain/pause_tables.py",
    "sql/chain/pauses.sql",
}
"""Paths of examples."""
TARGET = re.compile(r"^([a-z-]+):(?!=)", re.MULTILINE)


def section(page: str, title: str) -> str:
    """Text under a second-level heading of a page of docs/."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def table_rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_readme_is_short_and_has_one_picture() -> None:
    assert len(README.encode()) <= 8 * 1024
    assert len(re.findall(r"!\[", README)) == 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_generated_page_is_current(page: Path) -> None:
    assert page.read_text(encoding="utf-8") == PAGES[page](), "python -m docs.site.written_pages"


def test_every_setting_is_read() -> None:
    read = {
        node.attr
        for path in python_files(*PACKAGES)
        if path.name not in {"settings.py", "load_settings.py"}
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute)
    }
    unread = [row.name for row in SETTINGS if row.name.rpartition(".")[2] not in read]
    assert not unread


def test_the_command_line_page_lists_every_command() -> None:
    rows = table_rows(section("use/command-line.md", "Commands"))
    assert {row[0].strip("`").split()[1] for row in rows} == set(COMMANDS)


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
    """Both have to appear immediately."""
    script = (
        "import sys; from assay import cli as assay\n"
        "from click.testing import CliRunner\n"
        "assert CliRunner().invoke(assay.cli, ['--help']).exit_code == 0\n"
        "assert assay.cli.shell_complete(assay.click.Context(assay.cli), 's')\n"
        "print(*{name.partition('.')[0] for name in sys.modules})\n"
        "print(*(name for name in sys.modules if name.startswith('assay.commands.')))\n"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"polars", "duckdb", "litestar", "msgspec", "rich", "aiohttp"}
    assert not heavy & {*loaded}
    assert not [name for name in loaded if name.startswith("assay.commands.")]


def test_the_documents_know_the_names_of_the_chains() -> None:
    documented = table_rows(section("use/command-line.md", "Chains by name"))
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


def test_the_changelog_is_relative_to_releases_and_short() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert max(map(len, changelog.splitlines())) <= 160
    assert len(changelog.split("\n## 0.4.0\n")[0].encode()) <= 6 * 1024
    titles = set(re.findall(r"^### (.*)$", changelog, re.MULTILINE))
    assert titles <= {"Added", "Changed", "Fixed", "Removed"}


def test_every_path_in_the_documents_exists() -> None:
    tracked = subprocess.run(
        ["git", "ls-files"],  # noqa: S607 - git is found where git is
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    folders = {f"{parent}/" for file in tracked for parent in Path(file).parents}
    ends = [f"/{path}" for path in (*tracked, *folders)]
    missing = [
        f"{page.relative_to(ROOT)}: {path}"
        for page in DOCUMENTS
        for path in PATH.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
        if path not in EXAMPLES and not any(end.endswith(f"/{path}") for end in ends)
    ]
    assert not missing


@pytest.mark.parametrize("page", HAND_WRITTEN, ids=lambda page: page.stem)
def test_a_document_keeps_the_rules_for_prose(page: Path) -> None:
    """Code and generated tables are left out."""
    text = FENCED.sub(lambda code: "\n" * code[0].count("\n"), page.read_text(encoding="utf-8"))
    lines = text.split("\n## Checks\n", 1)[0] if page.name == "nodes.md" else text
    hits = [
        f"{page.name}:{number} [{rule}] {line}"
        for number, line in enumerate(lines.splitlines(), 1)
        for rule in find_rules_broken(re.sub(r"\]\([^)]*\)", "]", line))
    ]
    assert not hits, "\n".join(hits)


def test_the_version_has_no_second_copy_in_the_documents() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    copies = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
        if f"assay {project['version']}" in path.read_text(encoding="utf-8")
        or f"assay-{project['version']}" in path.read_text(encoding="utf-8")
    ]
    assert not copies


@pytest.mark.parametrize("kind", CHANGES)
def test_every_kind_of_change_has_a_page(kind: str) -> None:
    page = (ROOT / "docs" / "change" / f"{kind}.md").read_text(encoding="utf-8")
    assert re.search(r"\bFollowed on \d{4}-\d\d-\d\d\b", page), "follow the page once"


def test_a_decision_is_short_and_under_a_subject() -> None:
    index = (DECISIONS / "index.md").read_text(encoding="utf-8")
    for subject in DECISIONS.glob("*.md"):
        if subject.stem == "index":
            continue
        assert f"]({subject.name})" in index
        records = subject.read_text(encoding="utf-8").split("\n## ")[1:]
        assert records, subject.name
        for record in records:
            title, *lines = [line for line in record.splitlines() if line]
            assert len(lines) <= 8, title
            assert {"- Context:", "- Decision:"} <= {" ".join(line.split()[:2]) for line in lines}
            assert f"\n- {title}\n" in f"{index}\n", title
