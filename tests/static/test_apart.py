"""Oracle for places: a word that a store to a computed place may have written is never known.

Each trap halts transfers by a word that its maker sets through another address or slot. The doubles
store to computed addresses that hit no other word, as compilers do, and nothing is doubted.
"""

import re
from functools import cache
from pathlib import Path

import pytest

from analysis.static.analyse_code import CodeAnalysis, analyse_code
from assay.demo.compile import Artifacts, compile_sources
from assay.demo.npm_packages import PROJECT_ROOT

pytestmark = pytest.mark.compiler

SOURCE = Path(__file__).parent / "contracts" / "Apart.sol"
BASE = "base/Erc20.sol"
NAMES = re.findall(r"^contract (\w+)", SOURCE.read_text(), re.MULTILINE)
HONEST = [name for name in NAMES if name.startswith("Honest")]
TRAPS = [name for name in NAMES if name not in HONEST]


@cache
def tokens() -> Artifacts:
    zoo = PROJECT_ROOT / "assay" / "demo" / "contracts" / "zoo"
    return compile_sources({SOURCE.name: SOURCE.read_text(), BASE: (zoo / BASE).read_text()})


def runtime(name: str) -> bytes:
    """Return the code behind the constructor's last RETURN, and the INVALID that follows it."""
    return bytes.fromhex(tokens()[name].creation.split("f3fe", 1)[1])


def doubts(found: CodeAnalysis) -> list[str]:
    """Return what an analysis has against transfers: conditions of unknown source or on what an
    owner sets, and unproved stores."""
    unknown = [
        f"condition at {each.pc:#x}"
        for each in found.conditions.conditions
        if "unknown" in each.sources
    ]
    owned = [f"switch of the owner at {each.pc:#x}" for each in found.conditions.owned]
    stores = [f"{each.kind} at {each.pc:#x}" for each in found.hints.open_writes]
    return unknown + owned + stores


@pytest.mark.parametrize("name", TRAPS)
def test_a_word_behind_a_computed_place_is_doubted(name: str) -> None:
    assert doubts(analyse_code(runtime(name)))


@pytest.mark.parametrize("name", HONEST)
def test_stores_to_other_places_change_nothing(name: str) -> None:
    assert doubts(analyse_code(runtime(name))) == []


def test_there_are_enough_of_both() -> None:
    assert len(TRAPS) >= 12 and len(HONEST) >= 8
