"""Conditions written down as nested tuples, and an ordinary trade that they are solved for."""

from typing import Any

import msgspec

from analysis.conditions.condition_inputs import OrdinaryTrade
from analysis.conditions.condition_plan import ConditionPlan, make_plan
from analysis.static.token_model.caps.cap_rules import ComputationStep
from analysis.static.token_model.conditions.trade_conditions import (
    StoredValues,
    TradeCondition,
    TradeConditions,
)
from core.evm.primitives import Address, Hash32, Selector

TRADER, TOKEN, POOL, ROUTER, QUOTE = (Address("0x" + digit * 40) for digit in "12346")
STRANGER = Address("0x" + "9" * 40)
NOW_S, BLOCK = 1_790_000_000, 25_000_000
GWEI = 10**9
MASK = 2**256 - 1
POOL_RAW = 10**25

SETTING = OrdinaryTrade(
    time_s=NOW_S,
    block=BLOCK,
    bought_s=NOW_S,
    bought_block=BLOCK,
    first_sale_s=NOW_S,
    first_sale_block=BLOCK,
    base_fee_wei=5 * GWEI,
    gas_price_wei=6 * GWEI,
    gas=500_000,
    coins_wei=3 * 10**17,
    amount_raw=10**21,
    supply_raw=10**27,
    trader=TRADER,
    token=TOKEN,
    contract=TOKEN,
    pool=POOL,
    quote=QUOTE,
    router=ROUTER,
    proposer=Address("0x" + "5" * 40),
    pool_balance_raw=POOL_RAW,
    is_plain=True,
    words={},
    known=frozenset({POOL, ROUTER, TOKEN}),
)

Expression = Any
"""An int, a leaf's name, or an operation's name with operands."""


def word(number: int) -> Hash32:
    return Hash32(f"0x{number & MASK:064x}")


def written_down(expression: Expression) -> tuple[ComputationStep, ...]:
    """`("LT", "time", 5)` as steps. `("slot", 7)` names a slot; `("mark", 7, "from")` an entry of
    the mapping declared there, `("mark", 7, "from", 2)` the word two behind it."""
    steps: list[ComputationStep] = []

    def entry(declared: int, key: Expression, field: int = 0) -> int:
        given = write(key)
        steps.append(ComputationStep("keccak", (given, write(declared))))
        slot = len(steps) - 1
        if field:
            steps.append(ComputationStep("ADD", (write(field), slot)))
            slot = len(steps) - 1
        steps.append(ComputationStep("mark", (slot, given), word(declared)))
        return len(steps) - 1

    def write(part: Expression) -> int:
        if isinstance(part, int):
            steps.append(ComputationStep("number", (), word(part)))
        elif isinstance(part, str):
            steps.append(ComputationStep(part))
        else:
            name, *operands = part
            if name == "mark":
                return entry(*operands)
            slot = word(operands.pop(0)) if name == "slot" else None
            given = tuple(write(operand) for operand in operands)
            steps.append(ComputationStep(name, given, slot))
        return len(steps) - 1

    write(expression)
    return tuple(steps)


def condition(expression: Expression, *sources: Any, **changes: Any) -> TradeCondition:
    plain: dict[str, Any] = {
        "selector": Selector("0x23b872dd"),
        "pc": 1,
        "effect": "refuses",
        "sources": sources,
        "steps": written_down(expression),
    }
    return TradeCondition(**{**plain, **changes})


def plan(trade_condition: TradeCondition, **setting: Any) -> ConditionPlan:
    changed = msgspec.structs.replace(SETTING, **setting)
    return make_plan(TradeConditions(conditions=(trade_condition,), is_complete=True), changed, ())


def inputs(found: ConditionPlan) -> set[tuple[str, int]]:
    return {(each.input, each.value) for each in found.what_ifs if each.input != "price"}


COUNTER = StoredValues(slot=word(3), bits=word(MASK), is_free=True)
FLAG = StoredValues(slot=word(3), bits=word(0xFF << 8), constants=(word(1 << 8),))
CLOCK = StoredValues(slot=word(3), bits=word(MASK), clocks=("time",))
