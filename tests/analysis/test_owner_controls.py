"""What the owner sets and no field tells, from conditions written down by hand."""

from typing import Any

import pytest

from analysis.static.custody.simulation_hints import StoredAddress
from analysis.static.token_model.trade_conditions import OwnedCondition, TradeConditions
from analysis.token.owner_controls import find_controls
from core.primitives import Address, Hash32, Selector
from harness.api.samples import make_static

TRANSFER_FROM, APPROVE = Selector("0x23b872dd"), Selector("0x095ea7b3")
SLOT = Hash32(f"0x{5:064x}")
SOMEBODY = Address("0x" + "ab" * 20)
NOBODY = Address("0x" + "00" * 20)
ASKED = ((SLOT, 0),)
HERE, GONE = ({StoredAddress(slot=SLOT, shift=0): holder} for holder in (SOMEBODY, NOBODY))


def owned(**changes: Any) -> OwnedCondition:
    base: dict[str, Any] = {
        "selector": TRANSFER_FROM,
        "pc": 7,
        "effect": "refuses",
        "is_listed": True,
    }
    return OwnedCondition(**base | changes)


def asked(*conditions: OwnedCondition, is_complete: bool = True) -> TradeConditions:
    return TradeConditions(owned=conditions, is_complete=is_complete)


@pytest.mark.parametrize(
    ("conditions", "told", "is_renounced", "stored", "is_hidden"),
    [
        (asked(), {}, False, {}, False),
        (asked(is_complete=False), {}, False, {}, None),
        (asked(owned()), {}, False, {}, True),
        (asked(owned(), is_complete=False), {}, False, {}, True),
        (asked(owned()), {"has_blacklist_or_whitelist": True}, False, {}, False),
        (asked(owned()), {"has_blacklist_or_whitelist": None}, False, {}, True),
        (asked(owned()), {"has_tax_functionality": True}, False, {}, True),
        (asked(owned(effect="writes")), {"has_tax_functionality": True}, False, {}, True),
        (asked(owned(effect="writes")), {"tax_can_be_modified": True}, False, {}, False),
        (asked(owned()), {"tax_can_be_modified": True}, False, {}, True),
        (asked(owned()), {"has_pause_functionality": True}, False, {}, False),
        (asked(owned()), {"has_pause_functionality": True}, None, {}, False),
        # Answers deny that a pause of a renounced token can be set, so nothing tells of it.
        (asked(owned()), {"has_pause_functionality": True}, True, {}, True),
        (asked(owned(selector=APPROVE)), {"has_pause_functionality": True}, False, {}, True),
        (asked(owned(selector=APPROVE)), {"has_blacklist_or_whitelist": True}, False, {}, False),
        (asked(owned(askers=ASKED)), {}, True, GONE, False),
        (asked(owned(askers=ASKED)), {}, True, HERE, True),
        (asked(owned(askers=ASKED)), {}, True, {}, True),
        (asked(owned(askers=None)), {}, True, GONE, True),
    ],
)
def test_a_control_is_hidden_where_no_field_tells_and_somebody_is_left(
    conditions: TradeConditions,
    told: dict[str, Any],
    is_renounced: bool | None,
    stored: dict[StoredAddress, Address],
    is_hidden: bool | None,
) -> None:
    found = find_controls(
        conditions, (), make_static(**told), is_renounced=is_renounced, stored=stored
    )
    assert found.is_hidden is is_hidden
    assert bool(found.evidence) is (is_hidden is True)


def test_no_field_of_a_token_tells_of_its_hook() -> None:
    static = make_static(has_blacklist_or_whitelist=True)
    found = find_controls(asked(), [asked(owned())], static, is_renounced=False, stored={})
    assert found.is_hidden is True
    assert '"is_of_hook":true' in found.evidence[0].body
