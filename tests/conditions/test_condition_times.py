"""Protects the solver of times: each window is found to the second, or the condition stays open."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.conditions.condition_evaluator import Evaluator
from analysis.conditions.linear_boundaries import boundaries
from tests.harness.conditions.condition_cases import (
    CLOCK,
    MASK,
    NOW_S,
    SETTING,
    Expression,
    condition,
    inputs,
    plan,
    word,
)


@pytest.mark.parametrize(("start_s", "end_s"), [(8_700, 11_500), (95, 101), (40_001, 40_003)])
def test_a_window_written_as_one_scaled_difference_is_found(start_s: int, end_s: int) -> None:
    since = ("MUL", 7, ("SUB", "time", ("mark", 3, "from")))
    trade_condition = condition(
        ("LT", ("SUB", since, 7 * start_s), 7 * (end_s - start_s)), "mark", "time", written=(CLOCK,)
    )
    found = plan(trade_condition)
    assert ("time", NOW_S + start_s) in inputs(found)
    assert found.open == ()


SINCE = ("SUB", "time", ("mark", 3, "from"))
WINDOWS: list[tuple[str, Expression, set[tuple[str, int]]]] = [
    ("shut for some minutes", ("LT", ("SUB", SINCE, 600), 900), {("time", NOW_S - 3_600 + 1_499)}),
    ("a waiting time after the buy", ("LT", SINCE, 1_200), set()),
]


@pytest.mark.parametrize(
    ("expression", "expected"), [row[1:] for row in WINDOWS], ids=[row[0] for row in WINDOWS]
)
def test_a_window_before_the_ordinary_sale_is_played_and_a_waiting_time_is_not(
    expression: Expression, expected: set[tuple[str, int]]
) -> None:
    trade_condition = condition(expression, "mark", "time", written=(CLOCK,))
    found = plan(trade_condition, bought_s=NOW_S - 3_600, first_sale_s=NOW_S - 3_570)
    played = {each for each in inputs(found) if each[1] < NOW_S}
    assert played == expected
    assert found.open == ()


NUMBERS = st.sampled_from([0, 1, 2, 7, 60, 900, 2**32 - 1, 2**255, MASK, MASK - 6, NOW_S])
EXPRESSIONS = st.recursive(
    st.one_of(NUMBERS, st.just("time")),
    lambda inner: st.tuples(
        st.sampled_from(
            ["ADD", "SUB", "MUL", "DIV", "MOD", "LT", "GT", "SLT", "EQ", "AND", "OR", "SHL", "SHR"]
        ),
        inner,
        inner,
    ),
    max_leaves=6,
)


@given(EXPRESSIONS, st.integers(0, 900))
def test_what_is_called_exact_turns_nowhere_else(expression: Expression, around: int) -> None:
    """Checked at each second of a span, in addition to the points of interest."""
    trade_condition = condition(("ISZERO", expression), "time")
    evaluator, start = Evaluator(trade_condition, SETTING), NOW_S - around

    def values(value: int) -> list[int | None]:
        return evaluator.all({("time", None): value}, 0)

    found = boundaries(trade_condition.steps, values, (start, start + 900), {})
    if not found.is_exact:
        return
    outcomes = [values(start + second)[-1] for second in range(901)]
    turns = {start + at for at in range(1, 901) if outcomes[at] != outcomes[at - 1]}
    assert turns <= found.points


@pytest.mark.parametrize("day_s", [86_400, 7 * 86_400])
def test_an_hour_of_the_day_is_found_on_the_grid(day_s: int) -> None:
    hour = ("MOD", ("ADD", "time", day_s - NOW_S % day_s), day_s)
    trade_condition = condition(("LT", 7_200, ("SUB", hour, 90_000 % day_s)), "time")
    assert inputs(plan(trade_condition))


def test_a_time_that_was_not_found_stays_open() -> None:
    trade_condition = condition(("EQ", ("MOD", "time", 2**61 - 1), 5), "time")
    assert [why for _, why in plan(trade_condition).open] == ["no time was found at which it turns"]


SECOND_CLOCK = msgspec.structs.replace(CLOCK, slot=word(4))


@pytest.mark.parametrize(
    ("first", "second", "sources"),
    [
        (("slot", 3), ("slot", 4), ("counter",)),
        (("mark", 3, "from"), ("mark", 4, "from"), ("mark",)),
    ],
    ids=["of all trades", "of one party"],
)
def test_a_stored_time_is_moved_against_another(
    first: Expression, second: Expression, sources: tuple[str, ...]
) -> None:
    """The sale is as late as the time that is stored before it."""
    trade_condition = condition(
        ("LT", first, ("ADD", 9_000, second)), *sources, written=(CLOCK, SECOND_CLOCK)
    )
    found = plan(trade_condition, words={word(3): 0, word(4): 0})
    assert found.open == ()
    later = [each for each in found.what_ifs if each.value == NOW_S + 9_000]
    assert [each.input for each in later] == ["time"]
    assert [each.value for each in later[0].also] == [NOW_S + 9_000]
    assert not later[0].is_real


def test_a_stored_time_that_is_compared_with_the_clock_is_not_moved() -> None:
    trade_condition = condition(
        ("LT", "time", ("ADD", 60, ("mark", 3, "from"))), "mark", "time", written=(CLOCK,)
    )
    assert not [each for each in plan(trade_condition).what_ifs if each.also]
