"""Owner controls outside of all fields, from conditions written by hand."""

from typing import Any

import pytest

from analysis.static.custody.custody_report import PrivilegedParty
from analysis.static.powers.static_powers import Setter, StaticPower, StaticPowers
from analysis.static.token_model.conditions.trade_conditions import OwnedCondition, TradeConditions
from analysis.token.live_setters import LiveSetters
from analysis.token.owner_controls import find_controls
from core.evm.primitives import Address, Hash32, Selector
from tests.harness.api.sample_reports import make_static

TRANSFER_FROM, APPROVE = Selector("0x23b872dd"), Selector("0x095ea7b3")
SLOT = Hash32(f"0x{5:064x}")
SOMEBODY = Address("0x" + "ab" * 20)
NOBODY = Address("0x" + "00" * 20)
PLACE, LIST = Hash32(f"0x{5:064x}"), Hash32(f"0x{9:064x}")
ADDRESS_BITS, ALL_BITS = Hash32(f"0x{2**160 - 1:064x}"), Hash32(f"0x{2**256 - 1:064x}")
HERE, GONE = ({PLACE: int(holder, 16)} for holder in (SOMEBODY, NOBODY))


def setter(slot: Hash32, *callers: PrivilegedParty, is_entry: bool = False) -> Setter:
    return Setter(
        selector=Selector("0x12345678"),
        slot=slot,
        bits=ALL_BITS if is_entry else ADDRESS_BITS,
        is_entry=is_entry,
        authority="named" if callers else "anybody",
        callers=callers,
    )


def live(
    words: dict[Hash32, int],
    *setters: Setter,
    field: str = "hidden_owner_controls",
) -> LiveSetters:
    """Return the setters of a list that the address in PLACE sets."""
    of_list = setter(LIST, PrivilegedParty(slot=PLACE), is_entry=True)
    power = StaticPower(field=field, what="condition", setters=(of_list,))
    powers = StaticPowers(powers=(power,), setters=setters, is_complete=True)
    return LiveSetters(powers, words)


BY_ITSELF = setter(PLACE, PrivilegedParty(slot=PLACE))
ANYBODY = LiveSetters(StaticPowers(is_complete=True), {})


def owned(**changes: Any) -> OwnedCondition:
    base: dict[str, Any] = {
        "selector": TRANSFER_FROM,
        "pc": 7,
        "effect": "refuses",
        "is_listed": True,
        "slot": LIST,
        "bits": ALL_BITS,
        "rule": "other",
    }
    return OwnedCondition(**base | changes)


def asked_conditions(*conditions: OwnedCondition, is_complete: bool = True) -> TradeConditions:
    return TradeConditions(owned=conditions, is_complete=is_complete)


@pytest.mark.parametrize(
    ("conditions", "field_answers", "is_renounced", "words", "is_hidden"),
    [
        (asked_conditions(), {}, False, HERE, False),
        (asked_conditions(is_complete=False), {}, False, HERE, None),
        (asked_conditions(owned()), {}, False, HERE, True),
        (asked_conditions(owned(), is_complete=False), {}, False, HERE, True),
        (asked_conditions(owned()), {"has_blacklist_or_whitelist": True}, False, HERE, False),
        (asked_conditions(owned()), {"has_blacklist_or_whitelist": None}, False, HERE, True),
        (asked_conditions(owned()), {"has_tax_functionality": True}, False, HERE, True),
        (
            asked_conditions(owned(effect="writes")),
            {"has_tax_functionality": True},
            False,
            HERE,
            True,
        ),
        (
            asked_conditions(owned(effect="writes")),
            {"tax_can_be_modified": True},
            False,
            HERE,
            False,
        ),
        (asked_conditions(owned()), {"tax_can_be_modified": True}, False, HERE, True),
        (asked_conditions(owned()), {"has_pause_functionality": True}, False, HERE, False),
        (asked_conditions(owned()), {"has_pause_functionality": True}, None, HERE, False),
        # Answers deny that a pause of a renounced token can be set, so no field shows it.
        (asked_conditions(owned()), {"has_pause_functionality": True}, True, HERE, True),
        (
            asked_conditions(owned(selector=APPROVE)),
            {"has_pause_functionality": True},
            False,
            HERE,
            True,
        ),
        (
            asked_conditions(owned(selector=APPROVE)),
            {"has_blacklist_or_whitelist": True},
            False,
            HERE,
            False,
        ),
        (asked_conditions(owned()), {}, True, GONE, False),
        (asked_conditions(owned()), {}, True, HERE, True),
        (asked_conditions(owned()), {}, True, {}, True),
        (asked_conditions(owned(slot=None)), {}, True, GONE, True),
    ],
)
def test_a_control_is_hidden_where_no_field_tells_and_somebody_is_left(
    conditions: TradeConditions,
    field_answers: dict[str, Any],
    is_renounced: bool | None,
    words: dict[Hash32, int],
    is_hidden: bool | None,
) -> None:
    found = find_controls(
        conditions,
        (),
        make_static(**field_answers),
        is_renounced=is_renounced,
        live=live(words, BY_ITSELF),
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
        live=ANYBODY,
    )
    assert found.is_hidden is True
    assert '"is_of_hook":true' in found.evidence[0].body


OTHER = Hash32(f"0x{6:064x}")


@pytest.mark.parametrize(
    ("parties", "more", "other", "is_hidden"),
    [
        (None, None, None, False),
        ((PrivilegedParty(slot=PLACE),), None, None, False),
        ((PrivilegedParty(address=NOBODY),), None, None, False),
        ((PrivilegedParty(address=SOMEBODY),), None, None, True),
        ((PrivilegedParty(slot=PLACE), PrivilegedParty()), None, None, True),
        ((), None, None, True),
        # A former owner may come back as long as one is remembered.
        ((PrivilegedParty(slot=OTHER),), (PrivilegedParty(slot=PLACE),), SOMEBODY, True),
        ((PrivilegedParty(slot=OTHER),), (PrivilegedParty(slot=PLACE),), NOBODY, False),
        ((PrivilegedParty(slot=OTHER),), (PrivilegedParty(),), NOBODY, True),
    ],
)
def test_a_burn_address_is_dead_only_if_nobody_alive_may_replace_it(
    parties: tuple[PrivilegedParty, ...] | None,
    more: tuple[PrivilegedParty, ...] | None,
    other: Address | None,
    *,
    is_hidden: bool,
) -> None:
    setters = [
        setter(slot, *callers)
        for slot, callers in ((PLACE, parties), (OTHER, more))
        if callers is not None
    ]
    found = find_controls(
        asked_conditions(owned()),
        (),
        make_static(),
        is_renounced=True,
        live=live({**GONE, **({} if other is None else {OTHER: int(other, 16)})}, *setters),
    )
    assert found.is_hidden is is_hidden


@pytest.mark.parametrize(
    ("field", "is_hidden"), [("pause_status_can_be_modified", False), ("x", True)]
)
def test_an_approval_is_covered_by_the_pause_of_transfers_alone(
    field: str, *, is_hidden: bool
) -> None:
    found = find_controls(
        asked_conditions(owned(selector=APPROVE)),
        (),
        make_static(has_pause_functionality=True),
        is_renounced=False,
        live=live(HERE, BY_ITSELF, field=field),
    )
    assert found.is_hidden is is_hidden
