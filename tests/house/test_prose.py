"""Protects the language of the house: natural English, by rules that a program can check."""

import pytest

from tests.house.prose import RULES, find_hits
from tests.house.sources import PACKAGES, python_files


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
