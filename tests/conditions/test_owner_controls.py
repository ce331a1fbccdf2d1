"""Owner controls outside of all fields, from conditions written by hand."""

from typing import Any

import pytest

from analysis.static.custody.address_writers import AddressWriters, StoredAddress
from analysis.static.custody.custody_report import PrivilegedParty
from analysis.static.token_model.conditions.trade_conditions import OwnedCondition, TradeConditions
from analysis.token.owner_controls import find_controls
from core.evm.primitives import Address, Hash32, Selector
from tests.harness.api.sample_reports import make_static

TRANSFER_FROM, APPROVE = Selector("0x23b872dd"), Selector("0x095ea7b3")
SLOT = Hash32(f"0x{5:064x}")
SOMEBODY = Address("0x" + "ab" * 20)
NOBODY = Address("0x" + "00" * 20)
ASKED = ((SLOT, 0),)
PLACE = StoredAddress(slot=SLOT, shift=0)
BY_ITSELF = (AddressWriters(place=PLACE, parties=(PrivilegedParty(slot=SLOT),)),)
HERE, GONE = ({PLACE: holder} for holder in (SOMEBODY, NOBODY))


def owned(**changes: Any) -> OwnedCondition:
    base: dict[str, Any] = {
        "selector": TRANSFER_FROM,
        "pc": 7,
        "effect": "refuses",
        "is_listed": True,
    }
    return OwnedCondition(**base | changes)


def asked_conditions(*conditions: OwnedCondition, is_complete: bool = True) -> TradeConditions:
    return TradeConditions(owned=conditions, is_complete=is_complete)


@pytest.mark.parametrize(
    ("conditions", "field_answers", "is_renounced", "stored", "is_hidden"),
    [
        (asked_conditions(), {}, False, {}, False),
        (asked_conditions(is_complete=False), {}, False, {}, None),
        (asked_conditions(owned()), {}, False, {}, True),
        (asked_conditions(owned(), is_complete=False), {}, False, {}, True),
        (asked_conditions(owned()), {"has_blacklist_or_whitelist": True}, False, {}, False),
        (asked_conditions(owned()), {"has_blacklist_or_whitelist": None}, False, {}, True),
        (asked_conditions(owned()), {"has_tax_functionality": True}, False, {}, True),
        (
            asked_conditions(owned(effect="writes")),
            {"has_tax_functionality": True},
            False,
            {},
            True,
        ),
        (asked_conditions(owned(effect="writes")), {"tax_can_be_modified": True}, False, {}, False),
        (asked_conditions(owned()), {"tax_can_be_modified": True}, False, {}, True),
        (asked_conditions(owned()), {"has_pause_functionality": True}, False, {}, False),
        (asked_conditions(owned()), {"has_pause_functionality": True}, None, {}, False),
        # Answers deny that a pause of a renounced token can be set, so no field shows it.
        (asked_conditions(owned()), {"has_pause_functionality": True}, True, {}, True),
        (
            asked_conditions(owned(selector=APPROVE)),
            {"has_pause_functionality": True},
            False,
            {},
            True,
        ),
        (
            asked_conditions(owned(selector=APPROVE)),
            {"has_blacklist_or_whitelist": True},
            False,
            {},
            False,
        ),
        (asked_conditions(owned(askers=ASKED)), {}, True, GONE, False),
        (asked_conditions(owned(askers=ASKED)), {}, True, HERE, True),
        (asked_conditions(owned(askers=ASKED)), {}, True, {}, True),
        (asked_conditions(owned(askers=None)), {}, True, GONE, True),
    ],
)
def test_a_control_is_hidden_where_no_field_tells_and_somebody_is_left(
    conditions: TradeConditions,
    field_answers: dict[str, Any],
    is_renounced: bool | None,
    stored: dict[StoredAddress, Address],
    is_hidden: bool | None,
) -> None:
    found = find_controls(
        conditions,
        (),
        make_static(**field_answers),
        is_renounced=is_renounced,
        stored=stored,
        writers=BY_ITSELF,
    )
    assert found.is_hidden is is_hidden
    assert bool(found.evidence) is (is_hidden is True)


def test_no_field_of_a_token_tells_of_its_hook() -> None:
    static = make_static(has_blacklist_or_whitelist=True)
    found = find_controls(
        asked_conditions(),
        [asked_conditions(owned())],
        static,
        is_renounced=False,
        stored={},
        writers=(),
    )
    assert found.is_hidden is True
    assert '"is_of_hook":true' in found.evidence[0].body


OTHER = Hash32(f"0x{6:064x}")
OTHER_PLACE = StoredAddress(slot=OTHER, shift=0)


@pytest.mark.parametrize(
    ("parties", "more", "other", "is_hidden"),
    [
        ((), (), None, False),
        ((PrivilegedParty(slot=SLOT),), (), None, False),
        ((PrivilegedParty(address=NOBODY),), (), None, False),
        ((PrivilegedParty(address=SOMEBODY),), (), None, True),
        ((PrivilegedParty(slot=SLOT), PrivilegedParty()), (), None, True),
        # A former owner may come back as long as one is remembered.
        ((PrivilegedParty(slot=OTHER),), (PrivilegedParty(slot=SLOT),), SOMEBODY, True),
        ((PrivilegedParty(slot=OTHER),), (PrivilegedParty(slot=SLOT),), NOBODY, False),
        ((PrivilegedParty(slot=OTHER),), (PrivilegedParty(),), NOBODY, True),
    ],
)
def test_a_burn_address_is_dead_only_if_nobody_alive_may_replace_it(
    parties: tuple[PrivilegedParty, ...],
    more: tuple[PrivilegedParty, ...],
    other: Address | None,
    *,
    is_hidden: bool,
) -> None:
    found = find_controls(
        asked_conditions(owned(askers=ASKED)),
        (),
        make_static(),
        is_renounced=True,
        stored={**GONE, **({} if other is None else {OTHER_PLACE: other})},
        writers=(
            AddressWriters(place=PLACE, parties=parties),
            AddressWriters(place=OTHER_PLACE, parties=more),
        ),
    )
    assert found.is_hidden is is_hidden
