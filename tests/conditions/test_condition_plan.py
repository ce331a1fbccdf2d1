"""Protects the solver: its plans flip the condition, and unsolved ones stay open."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.conditions.condition_inputs import WhatIf
from analysis.conditions.condition_plan import callees_of, make_plan, slots_of
from analysis.static.token_model.conditions.trade_conditions import TradeCondition, TradeConditions
from core.evm.keccak import keccak
from core.evm.primitives import Address, Hash32, Selector
from tests.harness.conditions.condition_cases import (
    BLOCK,
    CLOCK,
    COUNTER,
    FLAG,
    GWEI,
    MASK,
    NOW_S,
    POOL,
    ROUTER,
    SETTING,
    STRANGER,
    TOKEN,
    TRADER,
    Expression,
    condition,
    inputs,
    plan,
    word,
)

SOLVED: list[tuple[str, Expression, tuple[str, ...], set[tuple[str, int]]]] = [
    ("a deadline", ("GT", "time", NOW_S + 10**6), ("time",), {("time", NOW_S + 10**6 + 1)}),
    ("one that has passed", ("GT", "time", NOW_S - 5), ("time",), set()),
    ("a sum", ("LT", ("ADD", "time", 60), NOW_S + 3600), ("time",), {("time", NOW_S + 3540)}),
    ("a block", ("LT", "block", BLOCK + 700), ("block",), {("block", BLOCK + 700)}),
    (
        "a purse",
        ("LT", ("coins", "origin"), 49 * 10**17),
        ("coins",),
        {("coins", 49 * 10**17)},
    ),
    (
        "a tip",
        ("GT", ("SUB", "gas_price", "base_fee"), 3 * GWEI),
        ("fees",),
        {("gas_price", 8 * GWEI + 1)},
    ),
    ("gas left", ("LT", "gas", 2_000_000), ("gas",), {("gas", 2_000_000)}),
    ("a small sale", ("LT", "amount", 10**20), ("amount",), {("amount", 10**20 - 1)}),
    ("what nobody reaches", ("GT", "amount", 10**30), ("amount",), set()),
    (
        "a named proposer",
        ("EQ", "proposer", int(STRANGER, 16)),
        ("proposer",),
        {("proposer", int(STRANGER, 16))},
    ),
    ("another word's answer", ("AND", 0, "unknown"), ("time",), set()),
]


@pytest.mark.parametrize(
    ("expression", "sources", "expected"),
    [row[1:] for row in SOLVED],
    ids=[row[0] for row in SOLVED],
)
def test_the_first_value_that_answers_otherwise_is_played(
    expression: Expression, sources: tuple[str, ...], expected: set[tuple[str, int]]
) -> None:
    found = plan(condition(expression, *sources))
    assert inputs(found) == expected
    assert found.open == ()


@given(st.integers(1, 10**8), st.integers(0, 10**6), st.sampled_from(["LT", "GT"]))
def test_a_boundary_ahead_is_found_to_the_second(ahead: int, added: int, order: str) -> None:
    boundary = NOW_S + ahead
    trade_condition = condition((order, ("ADD", "time", added), boundary + added), "time")
    expected = boundary if order == "LT" else boundary + 1
    assert inputs(plan(trade_condition)) == {("time", expected)}


@given(st.integers(0, 255), st.integers(2, 250))
def test_luck_is_drawn_until_it_turns(lucky: int, sides: int) -> None:
    trade_condition = condition(("EQ", ("MOD", "randomness", sides), lucky % sides), "randomness")
    found = plan(trade_condition)
    assert found.open == ()
    values = {each.value % sides for each in found.what_ifs}
    ordinary = MASK // 3 % sides
    assert not values or any(
        (value == lucky % sides) != (ordinary == lucky % sides) for value in values
    )


def test_a_counter_is_set_to_where_the_condition_turns() -> None:
    trade_condition = condition(("LT", ("slot", 3), 500), "counter", written=(COUNTER,))
    found = plan(trade_condition, words={word(3): 20})
    assert found.what_ifs == (WhatIf(input="slot", value=500, slot=word(3), contract=TOKEN),)
    assert (found.open, found.what_ifs[0].is_real) == ((), False)


def test_a_flag_takes_only_what_is_stored_there_and_leaves_its_neighbours() -> None:
    flag = ("AND", ("SHR", 8, ("slot", 3)), 0xFF)
    trade_condition = condition(("ISZERO", flag), "counter", written=(FLAG,))
    found = plan(trade_condition, words={word(3): 0xAB00CD})
    assert [each.value for each in found.what_ifs] == [0xAB01CD]


def test_a_lock_that_is_released_flips_nothing() -> None:
    released = msgspec.structs.replace(FLAG, constants=())
    trade_condition = condition(("AND", ("slot", 3), 0xFF00), "counter", written=(released,))
    assert plan(trade_condition, words={word(3): 0}).what_ifs == ()


def test_a_mark_of_the_time_is_played_by_waiting() -> None:
    """The sale is an hour after the buy, so a limit of a minute is missed."""
    trade_condition = condition(
        ("GT", "time", ("ADD", ("mark", 3, "from"), 10**6)), "mark", "time", written=(CLOCK,)
    )
    found = plan(trade_condition)
    assert {each.input for each in found.what_ifs} == {"time"}
    assert ("time", NOW_S + 10**6 + 1) in inputs(found)


OPEN: list[tuple[str, TradeCondition, str]] = [
    ("block hash", condition("block_hash", "block_hash"), "hash"),
    ("calldata tail", condition("input", "input"), "calldata"),
    ("unknown word", condition(("LT", "unknown", "time"), "unknown", "time"), "merged"),
    ("unread slot", condition(("LT", ("slot", 3), 5), "counter", written=(COUNTER,)), "evaluated"),
    ("a stranger's answer", condition(("answer", int(STRANGER, 16)), "answer"), STRANGER),
    ("an unknown contract", condition(("answer", "unknown"), "answer"), "not known"),
    (
        "a fee that anybody may set",
        condition(("MUL", "amount", ("slot", 3)), "unguarded", effect="value"),
        "anybody",
    ),
]


@pytest.mark.parametrize(
    ("trade_condition", "reason"), [row[1:] for row in OPEN], ids=[o[0] for o in OPEN]
)
def test_what_cannot_be_solved_stays_open_with_its_reason(
    trade_condition: TradeCondition, reason: str
) -> None:
    [(number, why)] = plan(trade_condition).open
    assert (number, reason in why) == (0, True)


@pytest.mark.parametrize("target", [int(ROUTER, 16), "this", "to", ("answer", int(POOL, 16))])
def test_known_contracts_are_asked_at_other_prices(target: Expression) -> None:
    found = plan(condition(("LT", ("answer", target), 5), "answer"))
    assert found.open == ()
    assert {each.input for each in found.what_ifs} == {"price"}


def test_marks_alone_never_stay_open() -> None:
    assert plan(condition("block_hash", "block_hash", effect="marks")).open == ()


def test_a_callee_is_settled_only_if_it_can_get_no_code() -> None:
    trade_condition = condition(("callee", int(STRANGER, 16)), "callee")
    conditions = TradeConditions(conditions=(trade_condition,), is_complete=True)
    assert callees_of(conditions, {}) == (STRANGER,)
    assert make_plan(conditions, SETTING, ()).open
    assert make_plan(conditions, SETTING, (STRANGER,)).open == ()


def test_both_meanings_of_a_merged_word_are_looked_at() -> None:
    late, later = ("GT", "time", NOW_S + 50), ("GT", "time", NOW_S + 5_000)
    found = plan(condition(("phi", late, later), "time"))
    assert inputs(found) == {("time", NOW_S + 51), ("time", NOW_S + 5_001)}


def test_slots_are_named_once() -> None:
    trade_condition = condition(("LT", ("slot", 3), ("ADD", ("slot", 4), ("slot", 3))), "counter")
    assert slots_of(TradeConditions(conditions=(trade_condition, trade_condition))) == (
        word(3),
        word(4),
    )


def test_no_more_is_played_than_fits() -> None:
    many = tuple(condition(("GT", "time", NOW_S + 100 * at), "time") for at in range(1, 60))
    found = make_plan(TradeConditions(conditions=many, is_complete=True), SETTING, ())
    assert len(found.what_ifs) <= 40
    assert {why for _, why in found.open} == {"more inputs to play than fit"}


def entry_of(account: Address, field: int = 0) -> Hash32:
    """Return Solidity's slot of the account's entry in the mapping declared at 3."""
    slot = int.from_bytes(keccak(int(account, 16).to_bytes(32) + (3).to_bytes(32)))
    return word(slot + field)


@pytest.mark.parametrize(
    ("selector", "whose"),
    [("0x095ea7b3", TRADER), ("0x23b872dd", ROUTER)],
    ids=["approve: the holder", "transferFrom: the router"],
)
def test_whose_entry_a_caller_has_depends_on_who_calls(selector: str, whose: Address) -> None:
    trade_condition = condition(
        ("EQ", ("mark", 3, "caller"), 152),
        "unguarded",
        selector=Selector(selector),
        written=(COUNTER,),
    )
    found = plan(trade_condition)
    assert [(each.value, each.slot) for each in found.what_ifs] == [
        (152, entry_of(whose)),
        (0, entry_of(whose)),
    ]
    assert found.open == ()


@pytest.mark.parametrize(
    ("key", "whose"), [("to", POOL), (int(STRANGER, 16), STRANGER), ("this", TOKEN)]
)
def test_anybodys_entry_is_played(key: Expression, whose: Address) -> None:
    """The pool's count of trades grows with everybody's; a stranger's may be a switch."""
    trade_condition = condition(("LT", ("mark", 3, key), 400), "mark", written=(COUNTER,))
    found = plan(trade_condition)
    assert {each.slot for each in found.what_ifs} == {entry_of(whose)}
    assert 400 in {each.value for each in found.what_ifs}


def test_a_field_of_a_struct_is_played_where_it_is() -> None:
    trade_condition = condition(("LT", ("mark", 3, "from", 2), 7), "mark", written=(COUNTER,))
    assert {each.slot for each in plan(trade_condition).what_ifs} == {entry_of(TRADER, 2)}


def test_an_entry_whose_key_is_not_known_stays_open() -> None:
    trade_condition = condition(("LT", ("mark", 3, "unknown"), 7), "mark", written=(COUNTER,))
    assert [why for _, why in plan(trade_condition).open] == [
        "cannot be evaluated: depends on mark"
    ]


@pytest.mark.parametrize(("key", "is_played"), [("from", True), ("to", False), ("caller", False)])
def test_what_only_its_party_sets_stands_from_the_start(key: str, is_played: bool) -> None:
    """Neither the pool nor the router does anything by itself."""
    own = msgspec.structs.replace(COUNTER, is_own=True)
    found = plan(condition(("mark", 3, key), "own", written=(own,)))
    assert bool(found.what_ifs) is is_played
    assert all(each.is_standing for each in found.what_ifs)
    assert found.open == ()


@pytest.mark.parametrize(("source", "is_open"), [("time", False), ("mark", True)])
def test_an_entry_that_only_the_owner_writes_is_empty_for_somebody_new(
    source: str, is_open: bool
) -> None:
    found = plan(condition(("GT", ("entry", "from"), "time"), source))
    assert bool(found.open) is is_open


def test_the_contracts_own_coins_are_played_beside_none() -> None:
    """Any account may send coins to the contract, so their number is unknown."""
    found = plan(condition(("GT", ("coins", "this"), 10**18), "coins"))
    assert {(each.value, each.account, each.is_real) for each in found.what_ifs} == {
        (10**18 + 1, TOKEN, False),
        (0, TOKEN, False),
    }


def test_what_is_stored_is_set_together_as_well() -> None:
    """One condition may be met only where another has turned."""
    conditions = (
        condition(("LT", ("mark", 3, "to"), 400), "mark", written=(COUNTER,)),
        condition(("mark", 3, int(STRANGER, 16)), "mark", written=(COUNTER,)),
        condition(("GT", "time", NOW_S + 100), "time"),
    )
    found = make_plan(TradeConditions(conditions=conditions, is_complete=True), SETTING, ())
    joint = [each for each in found.what_ifs if each.also]
    assert {each.input for each in joint} == {"time"}
    assert all(
        {beside.slot for beside in each.also} == {entry_of(POOL), entry_of(STRANGER)}
        for each in joint
    )
    assert {beside.value for each in joint for beside in each.also} >= {400, 1}
    assert all(each.is_standing and not each.is_real for each in joint)
