"""Protects the list of tests outside of a fleet: each name in it exists."""

import re

import pytest

from tests.harness.api.fleet_selection import FAST, ON_A_FLEET
from tests.house.sources import ROOT


@pytest.mark.parametrize("module", ON_A_FLEET)
def test_what_is_left_out_is_there_and_not_everything(module: str) -> None:
    source = (ROOT / "tests" / f"{module}.py").read_text(encoding="utf-8")
    there = set(re.findall(r"^(?:async )?def (test_\w+)\(", source, re.MULTILINE))
    assert there > ON_A_FLEET[module]


def test_what_ci_runs_is_of_the_list() -> None:
    assert set(ON_A_FLEET) >= FAST
