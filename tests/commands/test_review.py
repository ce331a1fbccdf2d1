"""Reviews of token lists on a real chain, as a command and as the steps of the GitHub Action."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from assay import cli
from assay.commands.runs.run_review import ListedToken, ReviewedToken, read_list, to_markdown
from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.demo.npm_packages import NODE_MODULES, PROJECT_ROOT
from core.evm.primitives import checksum

ACTION = PROJECT_ROOT / "deploy" / "integrations" / "action"
NOBODY = "0x" + "12" * 20


@pytest.fixture
def env(anvil_node: AnvilNode, demo_world: World, tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "overlay"
    write_overlay(demo_world, folder)
    return {"ASSAY_RPC_1": anvil_node.url, "ASSAY_CONFIG": str(folder)}


def write_list(path: Path, world: World, names: Sequence[str], *more: str) -> Path:
    addresses = [*(checksum(world.token(name).address) for name in names), *more]
    tokens = [{"chainId": 1, "address": one, "symbol": "X", "decimals": 18} for one in addresses]
    content = msgspec.json.encode({"name": "A list", "tokens": tokens})
    path.write_bytes(msgspec.json.format(content))
    return path


def line_of(path: Path, address: str) -> int:
    return next(at for at, line in enumerate(path.read_text().split("\n"), 1) if address in line)


def review(env: dict[str, str], *arguments: object) -> tuple[int, str]:
    ended = CliRunner().invoke(cli.cli, ["review", *map(str, arguments)], env=env)
    return ended.exit_code, ended.output


@pytest.mark.process
def test_a_list_is_reviewed_token_by_token(
    env: dict[str, str], demo_world: World, tmp_path: Path
) -> None:
    path = write_list(tmp_path / "list.json", demo_world, ["honest", "sell_blocked"], NOBODY)
    sarif = tmp_path / "found.sarif"
    code, report = review(env, path, "--sarif", sarif)
    rows = [line for line in report.splitlines() if line.startswith("| `")]
    assert code == 1
    assert [row.split("|")[3].strip() for row in rows] == ["not analysed", "danger", "safe"]
    assert "Tokens: 3. 1 not analysed, 1 danger, 1 safe." in report
    check_sarif(sarif, tmp_path)
    places = {
        (found["ruleId"], found["locations"][0]["physicalLocation"]["region"]["startLine"])
        for found in results_of(sarif)
    }
    trap = checksum(demo_world.token("sell_blocked").address)
    assert ("not_analysed", line_of(path, NOBODY)) in places
    assert ("dominant_pool_unsellable", line_of(path, trap)) in places
    assert {line for _, line in places} == {line_of(path, NOBODY), line_of(path, trap)}


@pytest.mark.process
@pytest.mark.parametrize(
    ("name", "fail_on", "code"),
    [
        ("honest", "warning", 0),
        ("proxy_1967", "danger", 0),
        ("proxy_1967", "warning", 1),
        ("sell_blocked", "danger", 1),
        ("sell_blocked", "never", 0),
    ],
)
def test_the_exit_code_is_that_of_the_worst_verdict(
    env: dict[str, str], demo_world: World, tmp_path: Path, name: str, fail_on: str, code: int
) -> None:
    path = tmp_path / "list.txt"
    path.write_text(f"# ours\neth {demo_world.token(name).address}  # new\n\n")
    assert review(env, path, "--fail-on", fail_on)[0] == code


@pytest.mark.process
def test_only_new_tokens_of_chosen_chains_are_analysed(
    env: dict[str, str], demo_world: World, tmp_path: Path
) -> None:
    base = write_list(tmp_path / "base.json", demo_world, ["sell_blocked"])
    path = tmp_path / "list.txt"
    old, new = (demo_world.token(name).address for name in ("sell_blocked", "honest"))
    path.write_text(f"1 {old}\nbase {old}\n1 {new}\n")
    code, report = review(env, path, "--base", base, "--chain", "ethereum")
    assert (code, "Tokens: 1. 1 safe." in report) == (0, True)
    code, report = review(env, path, "--base", base)
    assert (code, "ASSAY\\_RPC\\_8453 is not set" in report) == (1, True)
    code, report = review(env, base, "--base", base)
    assert (code, "Tokens: 0. None is new." in report) == (0, True)


@pytest.mark.process
def test_the_action_reviews_what_a_pull_request_adds(
    env: dict[str, str], demo_world: World, tmp_path: Path
) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    write_list(folder / "list.json", demo_world, ["honest"])
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "base")
    base = git(folder, "rev-parse", "HEAD")
    write_list(folder / "list.json", demo_world, ["honest", "sell_blocked"])
    summary = tmp_path / "summary.md"
    ended = subprocess.run(
        ["bash", ACTION / "review.sh"],  # noqa: S607 - from the PATH
        cwd=folder,
        env=os.environ
        | env
        | {"LIST": "list.json", "FAIL_ON": "danger", "SARIF": "out.sarif", "BASE_SHA": base}
        | {"GITHUB_STEP_SUMMARY": str(summary)}
        | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        check=False,
    )
    assert ended.returncode == 1
    assert "Tokens: 1. 1 danger." in summary.read_text()
    (place,) = {
        (place["artifactLocation"]["uri"], place["region"]["startLine"])
        for found in results_of(folder / "out.sarif")
        for place in [found["locations"][0]["physicalLocation"]]
    }
    trap = checksum(demo_world.token("sell_blocked").address)
    assert place == ("list.json", line_of(folder / "list.json", trap))


@pytest.mark.parametrize(
    "content",
    ["", "{}", "[1", '{"tokens": 5}', "1 0x12 3", '{"tokens": [{"chainId": "1"}]}', "[" * 100_000],
    ids=lambda content: content[:20],
)
def test_what_is_no_list_is_bad_usage(content: str, tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text(content)
    code, output = review({}, path)
    assert (code, "token list" in output) == (2, True) if content else (0, False)


def test_a_long_list_is_no_review_of_a_part(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text("".join(f"1 0x{at:040x}\n" for at in range(1_001)))
    code, output = review({}, path)
    assert (code, "1001 tokens" in output) == (2, True)
    path.write_text("".join(f"1 0x{at % 900:040x}\n" for at in range(5_000)))
    with path.open("rb") as file:
        assert [token.line for token in read_list(file)] == [*range(1, 901)]


def test_an_address_on_several_chains_has_a_line_for_each(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    tokens = [{"chainId": chain_id, "address": NOBODY} for chain_id in (1, 10, 8453)]
    path.write_text(
        '{"tokens": [\n' + ",\n".join(msgspec.json.encode(one).decode() for one in tokens) + "]}"
    )
    with path.open("rb") as file:
        found = [(token.chain, token.line) for token in read_list(file)]
    assert found == [("1", 2), ("10", 3), ("8453", 4)]


def test_names_of_tokens_are_no_markup() -> None:
    listed = ListedToken(chain="1", address="0x`|<b>@all", line=1)
    nasty = "`|</b>\n## @everyone [x](y) \x1b[2J"
    one = ReviewedToken(listed=listed, chain=nasty, symbol=nasty, verdict="danger", sentence=nasty)
    lines = to_markdown([one]).splitlines()
    (row,) = [line for line in lines if "danger |" in line]
    assert row.replace("\\|", "").count("|") == 5
    assert not any(line.startswith("## @") for line in lines)
    assert "\x1b" not in row
    assert "\\@everyone" in row.split("|", 2)[2]


def results_of(sarif: Path) -> list[dict[str, Any]]:
    (run,) = msgspec.json.decode(sarif.read_bytes())["runs"]
    results: list[dict[str, Any]] = run["results"]
    return results


def check_sarif(sarif: Path, folder: Path) -> None:
    """Check the types of the format, as its own package declares them."""
    types = NODE_MODULES / "@types" / "sarif" / "index.d.ts"
    program = folder / "check.ts"
    program.write_text(
        f'import type {{ Log }} from "{types}";\nexport const log: Log = {sarif.read_text()};'
    )
    tsc = NODE_MODULES / "typescript" / "bin" / "tsc"
    ended = subprocess.run(
        ["node", tsc, "--noEmit", "--strict", program],  # noqa: S607 - from the PATH
        capture_output=True,
        check=False,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout


def git(folder: Path, *arguments: str) -> str:
    name = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    ended = subprocess.run(
        ["git", *name, *arguments],  # noqa: S607 - from the PATH
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return ended.stdout.strip()
