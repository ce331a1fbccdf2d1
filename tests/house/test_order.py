"""Protects answers from depending on where objects lie in memory."""

import ast

from tests.house.sources import PACKAGES, ROOT, parsed, python_files

BY_ADDRESS = {"repr", "id", "hash"}
"""Functions that distinguish objects by their address, unless the class overrides them."""


def test_nothing_is_sorted_by_address() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in python_files(*PACKAGES)
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.keyword)
        and node.arg == "key"
        and isinstance(node.value, ast.Name)
        and node.value.id in BY_ADDRESS
    ]
    assert not wrong, "\n".join(wrong)
