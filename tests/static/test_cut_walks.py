"""A cut walk gives the result of a whole one, or none, whatever the budget."""

from functools import cache

import pytest

from analysis.static.analyse_code import analyse_code
from analysis.static.evm.budget import Budget
from core.report.fields.static_findings import StaticFindings
from tests.harness.cases.cases import FIELDS, NOW_IN_FORCE, Case, load_cases
from tests.harness.cases.cases_compile import builds_of, runtime_of

_NAMES = (
    "ReflectionTemplate",
    "WholeTaxToken",
    "CooldownAndList",
    "SaleWindow",
    "TwoFlags",
    "SharedUpdate",
    "Checkpoints",
    "ZeroedAmount",
)
_STEPS = (300, 900, 1_500, 2_500, 4_000, 7_000, 12_000, 25_000, 60_000, 120_000)


def _codes() -> list[tuple[Case, str]]:
    return [(case, "0.8-opt") for case in load_cases() if case.name in _NAMES]


@cache
def whole_findings(runtime: bytes) -> StaticFindings:
    return analyse_code(runtime).findings


@pytest.mark.parametrize("steps", _STEPS)
@pytest.mark.parametrize(("case", "name"), _codes(), ids=lambda value: getattr(value, "name", ""))
def test_a_cut_walk_never_contradicts_a_whole_one(case: Case, name: str, steps: int) -> None:
    build = next(build for build in builds_of(case) if build.name == name)
    runtime = runtime_of(case, build)
    whole = whole_findings(runtime)
    cut = analyse_code(runtime, budget=Budget(steps=steps)).findings
    wrong = {
        field: (getattr(cut, field), getattr(whole, field))
        for field in set(FIELDS) - set(NOW_IN_FORCE)
        if getattr(cut, field) not in (None, getattr(whole, field))
    }
    assert not wrong


def test_some_of_these_walks_are_cut_and_say_so() -> None:
    """Covers the property above."""
    case = next(case for case in load_cases() if case.name == "ReflectionTemplate")
    build = next(build for build in builds_of(case) if build.name == "0.8-opt")
    cut = analyse_code(runtime_of(case, build), budget=Budget(steps=12_000)).findings
    assert cut.balance_update_function is None
    assert cut.allowance_update_function is None
    assert cut.has_tax_functionality is None
    assert cut.has_blacklist_or_whitelist is None
