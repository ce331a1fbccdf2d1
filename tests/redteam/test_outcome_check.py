"""The red team's check finds wrong answers, and nothing else."""

from typing import Any

import msgspec
import pytest

from assay.demo.layout import Pool, ZooToken
from core.evm.primitives import ZERO_ADDRESS
from tests.harness.redteam.ordinary_trades import Deal
from tests.harness.redteam.outcome_check import Said, compare
from tests.harness.redteam.placed_traps import Placed
from tests.harness.redteam.real_outcomes import Truth
from tests.harness.redteam.trap_model import Trap

GOOD = Deal(went=True, mined=True, tax=0.4)
TAXED = Deal(went=True, mined=True, tax=90)
REFUSED = Deal(went=False, mined=False, tax=100)
EMPTY = Deal(went=False, mined=True, tax=100)

QUIET = Truth(
    first_buys=(GOOD, GOOD),
    first_sales=(GOOD, GOOD),
    later_buys={"days": GOOD},
    later_sales={"month": GOOD},
    sent_on=True,
    is_stolen=False,
    is_minted=False,
)
SAFE = Said(
    verdict="safe",
    reasons=(),
    active=(),
    open=(),
    buy=True,
    buy_tax=0,
    sell=True,
    sell_tax=0,
    drained=False,
    bypassed=False,
    mints=False,
)
POOL = Pool(venue="v2", dex="Uniswap V2", kind="AmmV2", address=ZERO_ADDRESS, quote=ZERO_ADDRESS)


def placed(*, is_honest: bool = False, bypasses: bool = False) -> Placed:
    trap = Trap(name="T", axis="x", label="T", source="", is_honest=is_honest, bypasses=bypasses)
    token = ZooToken(
        key="T",
        trait="",
        address=ZERO_ADDRESS,
        symbol="T",
        decimals=18,
        pool=POOL,
        owner=ZERO_ADDRESS,
        holders=(),
    )
    return Placed(trap=trap, token=token, home=ZERO_ADDRESS, courier=ZERO_ADDRESS)


def wrong(truth: dict[str, Any], said: dict[str, Any], **trap: bool) -> set[str]:
    real = msgspec.structs.replace(QUIET, **truth)
    summary = msgspec.structs.replace(SAFE, **said)
    return {*compare(placed(**trap), real, summary).wrong}


WARNED = {"verdict": "warning"}


@pytest.mark.parametrize(
    ("truth", "said", "expected"),
    [
        ({}, {}, set()),
        ({"later_sales": {"month": REFUSED}}, {}, {"false_safe"}),
        ({"later_sales": {"month": TAXED}}, {}, {"false_safe"}),
        ({"later_sales": {"month": TAXED}}, WARNED, set()),
        ({"later_buys": {"days": EMPTY}}, {}, {"false_safe"}),
        ({"later_buys": {"days": REFUSED}}, {}, set()),
        ({"first_sales": (REFUSED,)}, WARNED, {"false_sell"}),
        ({"first_sales": (REFUSED, GOOD)}, WARNED, set()),
        ({"first_sales": (REFUSED,)}, WARNED | {"sell": False}, set()),
        ({"first_sales": (TAXED,)}, WARNED, {"false_sell_tax"}),
        ({"first_sales": (TAXED,)}, WARNED | {"sell_tax": 91.0}, set()),
        ({"first_buys": (EMPTY,), "first_sales": ()}, WARNED, {"false_buy"}),
        ({"is_stolen": True}, WARNED, {"false_drain"}),
        ({"is_stolen": True}, WARNED | {"drained": None}, set()),
        ({"is_minted": True}, WARNED, {"false_mint"}),
    ],
)
def test_a_trap(truth: dict[str, Any], said: dict[str, Any], expected: set[str]) -> None:
    assert wrong(truth, said) == expected


def test_a_theft_by_transfer_from_is_a_bypass() -> None:
    said = WARNED | {"drained": None}
    assert wrong({"is_stolen": True}, said, bypasses=True) == {"false_bypass"}
    assert not wrong({"is_stolen": True}, said | {"bypassed": None}, bypasses=True)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, set()),
        (WARNED, set()),
        ({"verdict": "danger"}, {"honest_danger"}),
        (WARNED | {"sell": False}, {"honest_trade"}),
        (WARNED | {"drained": True}, {"honest_theft"}),
    ],
)
def test_an_honest_double(said: dict[str, Any], expected: set[str]) -> None:
    assert wrong({}, said, is_honest=True) == expected
