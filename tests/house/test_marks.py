"""Protects `make test` from nodes and servers: users of a fixture that starts one are marked."""

import ast
from collections.abc import Iterator

from tests.conftest import FIXTURES
from tests.house.sources import ROOT, parsed

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
