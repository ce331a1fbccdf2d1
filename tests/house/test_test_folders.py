"""Protects the order of tests: folders by subject, shared code in tests/harness, and marks."""

import ast
from collections.abc import Iterator

from tests.conftest import FIXTURES
from tests.house.sources import ROOT, imported, parsed, python_files

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
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and STARTERS & {
                call.func.id
                for call in ast.walk(node)
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
            }:
                yield node.name


def test_fixtures_that_start_a_process_have_a_mark() -> None:
    assert set(fixtures_that_start()) == set(FIXTURES)
