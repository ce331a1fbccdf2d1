"""Protects the map of the house: small folders, modules worth a file, and tests by subject."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import FIXTURES
from tests.house.sources import (
    PACKAGES,
    ROOT,
    imported,
    module_name,
    nodes_of,
    own_files,
    python_files,
)

TOP = {
    *("config", "core", "sql", "indexer", "analysis", "api", "assay"),
    *("tests", "benchmarks", "docs", "deploy", "requirements", ".ci"),
}

MOST_FILES = 25

REGISTRIES = {
    "analysis/static/detectors": "one detector a file, listed in registry.py",
    "assay/commands": "one command a file, listed in cli.py",
}

"""Folders that may have more files, since a registry lists them."""

MOST_LINES = 700

MOST_FUNCTION_LINES = 60

SMALL = 250

"""Lines up to which a module needs a second importer."""


def test_nothing_else_stands_at_the_top() -> None:
    found = {path.relative_to(ROOT).parts[0] for path in own_files() if path.parent != ROOT}
    assert found == TOP


def test_a_folder_has_few_files() -> None:
    counts = Counter(
        path.parent.relative_to(ROOT).as_posix()
        for path in python_files(*PACKAGES, "tests", "benchmarks")
        if path.name != "__init__.py"
    )
    full = {folder: count for folder, count in counts.items() if count > MOST_FILES}
    assert not full.keys() - REGISTRIES.keys(), full


def test_no_file_is_too_long() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files(*PACKAGES, "tests", "benchmarks", "docs")
    }
    assert not {name: lines for name, lines in lengths.items() if lines > MOST_LINES}


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Functions of a file, each with its number of lines."""
    for node in nodes_of(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            yield node.name, node.end_lineno - node.lineno + 1


def test_no_function_is_too_long() -> None:
    long = {
        f"{path.relative_to(ROOT)}:{name}": lines
        for path in python_files(*PACKAGES, "tests", "benchmarks", "docs")
        for name, lines in functions(path)
        if lines > MOST_FUNCTION_LINES
    }
    assert not long


ALONE = {
    "analysis/market/curves": "one curve a file, as docs/change/launchpad.md has it",
    "analysis/market/venues/swaps": "one pool family a file",
    "analysis/liquidity": "one way to hold liquidity a file",
    "analysis/external": "one market-data service a file",
    "analysis/scenarios/theft": "one theft check a file",
    "analysis/static/detectors": "one detector a file",
    "analysis/static/custody": "one proof obligation a file",
    "assay/service/fleet": "one part of a fleet a file",
}

"""Folders in which a small module with one importer is an item of a list."""

MOST_SMALL = 50

"""Other small modules with one importer. Goes down."""


def small_modules_with_one_importer() -> Iterator[tuple[str, str]]:
    """Small product modules that only one module of their folder imports, each with that module."""
    paths = {module_name(path): path for path in python_files(*PACKAGES)}
    importers: dict[str, set[str]] = defaultdict(set)
    for module, path in paths.items():
        for name, _ in imported(path):
            target = name if name in paths else name.rpartition(".")[0]
            if target in paths and target != module:
                importers[target].add(module)
    for module, path in paths.items():
        lines = len(path.read_text(encoding="utf-8").splitlines())
        folder = path.parent.relative_to(ROOT).as_posix()
        if path.name == "__init__.py" or lines > SMALL or folder in ALONE:
            continue
        if len(importers[module]) == 1:
            (importer,) = importers[module]
            if importer.rpartition(".")[0] == module.rpartition(".")[0]:
                yield module, importer


def test_few_small_modules_have_one_importer() -> None:
    """A module has two importers, or is an item of a list, or is long enough to stand alone."""
    found = [f"{module} <- {importer}" for module, importer in small_modules_with_one_importer()]
    assert len(found) <= MOST_SMALL, "\n".join(found)


# --- test folders -------------------------------------------------------------------------------

SHARED = ("harness", "house", "drills")

"""Folders of modules that are not tests: `house` has helpers of its tests, `drills` programs."""


def test_shared_modules_are_in_the_harness() -> None:
    wrong = [
        path.relative_to(ROOT).as_posix()
        for path in python_files("tests")
        if path.relative_to(ROOT / "tests").parts[0] not in SHARED
        and not path.name.startswith("test_")
        and path.name != "conftest.py"
    ]
    assert not wrong


def test_no_test_module_is_imported() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in python_files("tests", "benchmarks")
        for name, line in imported(path)
        if name.startswith("tests.") and any(part.startswith("test_") for part in name.split("."))
    ]
    assert not wrong, "\n".join(wrong)


STARTERS = {"AnvilNode", "Chromium", "NodeProgram", "Provider", "running_postgres"}

"""Names that start a process where they are called or entered."""


def fixtures_that_start() -> Iterator[str]:
    tests = ROOT / "tests"
    for path in sorted([*tests.rglob("conftest.py"), *tests.rglob("fixtures.py")]):
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and STARTERS & {
                call.func.id
                for call in ast.walk(node)
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
            }:
                yield node.name


def test_fixtures_that_start_a_process_have_a_mark() -> None:
    assert set(fixtures_that_start()) == set(FIXTURES)
