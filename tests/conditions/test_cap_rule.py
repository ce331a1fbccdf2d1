"""Protects the rule of a cap where storage does not settle it: a possible refusal is a cap."""

import pytest

from analysis.static.token_model.caps.cap_rules import (
    REFUSED,
    CapRule,
    CapRules,
    ComputationStep,
    TransferBranch,
)
from analysis.token.cap_evaluation import CapInput, with_caps
from analysis.token.contract_clock import ClockReading
from core.evm.primitives import Hash32, RawAmount
from core.report.fields.static_findings import StaticFindings

SLOT = Hash32("0x" + "00" * 31 + "07")
ONE = Hash32("0x" + "00" * 31 + "01")
MAX = Hash32("0x" + "ff" * 32)
CAPPED = StaticFindings(has_trading_cap_functionality=True)


def in_force(
    *steps: ComputationStep, stored_value: int | None = None, clock: ClockReading | None = None
) -> bool | None:
    """True if a token refuses, as its last step is not zero."""
    refusing = TransferBranch(condition=len(steps) - 1, if_true=(REFUSED,), if_false=())
    rule = CapRule(steps=steps, choices=(refusing,), starts=(0,), constant=None)
    words = {} if stored_value is None else {SLOT: stored_value}
    rules = CapRules(trading=rule)
    caps = CapInput(rules=rules, words=words, supply_raw=RawAmount(1000), clock=clock)
    found = with_caps(CAPPED, caps)
    return found.has_trading_cap


AMOUNT, STORED, UNKNOWN = (
    ComputationStep("amount"),
    ComputationStep("slot", (), SLOT),
    ComputationStep("unknown"),
)


@pytest.mark.parametrize(
    ("stored_value", "bites"), [(10, True), (999, True), (1000, False), (None, True)]
)
def test_a_stored_cap(stored_value: int | None, *, bites: bool) -> None:
    assert (
        in_force(AMOUNT, STORED, ComputationStep("GT", (0, 1)), stored_value=stored_value) is bites
    )


@pytest.mark.parametrize(
    ("steps", "bites"),
    [
        ((UNKNOWN, ComputationStep("ISZERO", (0,))), True),
        (
            (
                UNKNOWN,
                ComputationStep("number", (), ONE),
                ComputationStep("OR", (0, 1)),
                ComputationStep("ISZERO", (2,)),
            ),
            False,
        ),
        ((UNKNOWN, ComputationStep("number", (), MAX), ComputationStep("GT", (0, 1))), False),
        ((UNKNOWN, ComputationStep("number", (), MAX), ComputationStep("LT", (1, 0))), False),
        ((UNKNOWN, ComputationStep("number", (), ONE), ComputationStep("GT", (0, 1))), True),
        ((AMOUNT, UNKNOWN, ComputationStep("phi", (0, 1)), ComputationStep("ISZERO", (2,))), True),
        (
            (
                AMOUNT,
                ComputationStep("number", (), ONE),
                ComputationStep("phi", (0, 1)),
                ComputationStep("ISZERO", (2,)),
            ),
            False,
        ),
        ((UNKNOWN, ComputationStep("something new", (0,))), True),
        (
            (
                ComputationStep("block"),
                ComputationStep("number", (), ONE),
                ComputationStep("EQ", (0, 1)),
            ),
            True,
        ),
    ],
)
def test_what_is_not_known_may_be_anything(
    steps: tuple[ComputationStep, ...], *, bites: bool
) -> None:
    assert in_force(*steps) is bites


def test_the_clock_decides_where_it_was_read() -> None:
    steps = (
        ComputationStep("block"),
        ComputationStep("slot", (), SLOT),
        ComputationStep("LT", (0, 1)),
    )
    clock = ClockReading(block_number=100, time_s=5)
    assert in_force(*steps, stored_value=101, clock=clock) is True
    assert in_force(*steps, stored_value=100, clock=clock) is False
    assert in_force(*steps, stored_value=100) is True


@pytest.mark.parametrize("code_answer", [True, False, None])
def test_without_a_rule_it_is_what_the_code_tells(code_answer: bool | None) -> None:
    static = StaticFindings(has_trading_cap_functionality=code_answer, has_trading_cap=None)
    caps = CapInput(rules=CapRules(), words={}, supply_raw=RawAmount(1), clock=None)
    found = with_caps(static, caps)
    assert found.has_trading_cap is code_answer
