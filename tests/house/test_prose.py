"""Protects the language of the house: natural English, and unique names of modules and classes."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.prose import RULES, find_hits
from tests.house.sources import PACKAGES, ROOT, parsed, python_files


@pytest.mark.parametrize("top", [*PACKAGES, "tests", "benchmarks", "docs"])
def test_prose_follows_the_rules(top: str) -> None:
    hits = [
        hit
        for path in python_files(top)
        if "node_modules" not in path.parts
        for hit in find_hits(path)
    ]
    listed = "\n".join(f"{hit}\n    {RULES[hit.rule]}" for hit in hits[:20])
    assert not hits, listed


# --- names --------------------------------------------------------------------------------------

PRODUCT = ("config", "sql", "indexer", "analysis", "api", "assay/doctor")


def public_types(path: Path) -> Iterator[str]:
    """Classes, and type aliases: capitalised names that are not constants."""
    for node in parsed(path).body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id[0].isupper() and not target.id.isupper():
                yield target.id


def test_no_public_type_stands_twice() -> None:
    homes = defaultdict(list)
    for path in python_files(*PRODUCT):
        for name in public_types(path):
            if not name.startswith("_"):
                homes[name].append(str(path.relative_to(ROOT)))
    assert not {name: where for name, where in homes.items() if len(where) > 1}


def test_no_module_stands_twice() -> None:
    homes = defaultdict(list)
    for path in python_files(*PRODUCT):
        if path.stem != "__init__":
            homes[path.stem].append(str(path.relative_to(ROOT)))
    assert not {name: where for name, where in homes.items() if len(where) > 1}
