"""Protects the selection of `make test`: one test of each module at least, within the budget."""

from hypothesis import given
from hypothesis import strategies as st

from tests.harness.fast_tier import BUDGET_S, CHEAP_S, Costs, choose_functions, load_record
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
    assert choose_functions({"a": {"dear": BUDGET_S}}, [("a", "new"), ("a", "dear")]) == {
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
