"""Protects the selections of tests: the fast tier, and the tests outside of a fleet."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.api.fleet_selection import FAST, ON_A_FLEET
from tests.harness.examples import spread
from tests.harness.fast_tier import BUDGET_S, CHEAP_S, Costs, choose_functions, load_record
from tests.harness.venues.token_matrix import CASES, KINDS
from tests.house.sources import ROOT

costs = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.dictionaries(st.sampled_from(["x", "y", "z"]), st.floats(0, BUDGET_S), min_size=1),
    min_size=1,
)


@given(costs)
def test_each_module_has_a_test_and_the_rest_keeps_to_the_budget(recorded: Costs) -> None:
    functions = {(module, name) for module, found in recorded.items() for name in found}
    chosen = choose_functions(recorded, functions)
    assert {module for module, _ in chosen} == set(recorded)
    cheapest = sum(min(found.values()) for found in recorded.values())
    cheap = sum(cost for found in recorded.values() for cost in found.values() if cost < CHEAP_S)
    spent = sum(recorded[module][name] for module, name in chosen)
    assert spent <= max(BUDGET_S, cheapest + cheap) + 1e-6


def test_what_is_not_recorded_is_chosen() -> None:
    assert choose_functions({"a": {"dear": BUDGET_S / 2}}, [("a", "new"), ("a", "dear")]) == {
        ("a", "new"),
        ("a", "dear"),
    }
    assert choose_functions({"a": {"dear": 2 * BUDGET_S}}, [("a", "new"), ("a", "dear")]) == {
        ("a", "new")
    }


def test_the_record_names_modules_that_exist() -> None:
    """`make durations` writes it."""
    record = load_record()
    gone = [name for name in [*record["costs"], *record["skipped"]] if not (ROOT / name).is_file()]
    assert not gone


names = st.text("abcdefgh", min_size=1, max_size=1)

pairs = st.lists(st.tuples(names, names), unique=True)


def usual(combinations: list[tuple[str, str]], one_in: int) -> list[tuple[object, object]]:
    """Return the combinations that CI tries."""
    found = [param for param in spread(combinations, one_in=one_in) if not param.marks]
    return [(param.values[0], param.values[1]) for param in found]


@given(pairs, st.integers(min_value=1, max_value=6))
def test_each_thing_is_tried_and_nothing_is_lost(pairs: list[tuple[str, str]], one_in: int) -> None:
    tried = usual(pairs, one_in)
    assert {thing for thing, _ in tried} == {thing for thing, _ in pairs}
    assert set(tried) <= set(pairs)
    assert {param.values for param in spread(pairs, one_in=one_in)} == set(pairs)
    assert usual(pairs, 1) == [param.values for param in spread(pairs, one_in=1)]


def test_every_kind_of_pool_is_traded_with_many_tokens() -> None:
    places = [place for _, place in usual(list(CASES), 3)]
    for kind in KINDS:
        assert places.count(kind) >= 5, kind


# --- fleet selection ----------------------------------------------------------------------------


@pytest.mark.parametrize("module", ON_A_FLEET)
def test_what_is_left_out_is_there_and_not_everything(module: str) -> None:
    source = (ROOT / "tests" / f"{module}.py").read_text(encoding="utf-8")
    there = set(re.findall(r"^(?:async )?def (test_\w+)\(", source, re.MULTILINE))
    assert there > ON_A_FLEET[module]


def test_what_ci_runs_is_of_the_list() -> None:
    assert set(ON_A_FLEET) >= FAST
