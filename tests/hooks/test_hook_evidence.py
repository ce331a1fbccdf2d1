"""Protects the evidence on hooks: one allowed router is found, and its opposite is not."""

from typing import Any

import msgspec
import pytest

from analysis.market.venues.pool import Candidate
from analysis.scenarios.conditions.hook_evidence import hook_evidence, traded_hooks
from analysis.static.token_model.caps.cap_rules import ComputationStep
from analysis.static.token_model.conditions.trade_conditions import TradeCondition, TradeConditions
from config.facts.chain import Dex
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32, Selector

ROUTER, OTHER = Address("0x" + "12" * 20), Address("0x" + "34" * 20)
TAKING_HOOK = Address("0x" + "a1" * 18 + "0044")
QUIET_HOOK = Address("0x" + "a1" * 18 + "0080")
BEFORE_SWAP, TRANSFER = Selector("0x575e24b4"), Selector("0xa9059cbb")


def rule(
    operation: str,
    *,
    fails_when: bool | None,
    address: Address = ROUTER,
    negated: bool = False,
    selector: Selector = BEFORE_SWAP,
    effect: Any = "refuses",
) -> TradeCondition:
    word = Hash32(f"0x{address[2:]:0>64}")
    steps = [
        ComputationStep(operation="number", arguments=(), word=word),
        ComputationStep(operation="unknown", arguments=(), word=None),
        ComputationStep(operation=operation, arguments=(0, 1), word=None),
    ]
    if negated:
        steps.append(ComputationStep(operation="ISZERO", arguments=(2,), word=None))
    return TradeCondition(
        selector=selector,
        pc=1,
        effect=effect,
        sources=(),
        steps=tuple(steps),
        written=(),
        fails_when=fails_when,
    )


def evidence(*rules: TradeCondition, hook: Address = QUIET_HOOK, fee: int = 3_000) -> Any:
    dex = Dex(name="Uniswap V4", kind="AmmV4", factory=OTHER, from_block=0)
    pool = Candidate(dex=dex, token=OTHER, quote=ZERO_ADDRESS, pool=OTHER, fee=fee, hooks=hook)
    known = {hook: TradeConditions(conditions=rules, is_complete=True)}
    (row,) = hook_evidence(traded_hooks([(pool, ROUTER, 5.0)], known))
    (found,) = msgspec.json.decode(row.body)
    return found


@pytest.mark.parametrize(
    ("found", "is_alone"),
    [
        (rule("EQ", fails_when=False), True),
        (rule("SUB", fails_when=True), True),
        (rule("XOR", fails_when=True), True),
        (rule("EQ", fails_when=True, negated=True), True),
        (rule("EQ", fails_when=True), False),  # the router is forbidden
        (rule("EQ", fails_when=False, negated=True), False),
        (rule("EQ", fails_when=None), False),
        (rule("EQ", fails_when=False, address=OTHER), False),
        (rule("GT", fails_when=False), False),
        (rule("EQ", fails_when=False, selector=TRANSFER), False),
        (rule("EQ", fails_when=False, effect="taxes"), False),
    ],
)
def test_the_only_router_is_the_one_that_a_swap_must_come_from(
    found: TradeCondition, is_alone: bool
) -> None:
    assert evidence(found)["only_router"] == (ROUTER if is_alone else None)


def test_a_fee_is_the_hooks_only_where_the_pool_leaves_it_to_the_hook() -> None:
    assert evidence(fee=0x800000)["fee_pct"] == 5.0
    assert evidence(fee=3_000)["fee_pct"] is None


def test_a_hook_takes_part_only_with_the_permission_to() -> None:
    assert evidence(hook=TAKING_HOOK)["takes_part"] is True
    assert evidence(hook=QUIET_HOOK)["takes_part"] is False
