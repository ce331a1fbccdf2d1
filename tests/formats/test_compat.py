"""Protects the compat shape: one table of native value, compat value and null rule."""

from typing import Any

import msgspec
import pytest
from hypothesis import given

from api.formats.amounts import decimal_text, number_text
from api.formats.native.compat import (
    ALWAYS_NULL,
    TABLE,
    CompatFeatures,
    CompatHolder,
    render_compat,
)
from api.formats.native.native import render_native
from core.evm.primitives import RawAmount
from core.report.report import Report
from tests.harness.api.sample_reports import (
    CLOCK,
    LIQUID_USD,
    OWNER,
    OWNER_SHOWN,
    amounts,
    make_holder,
    make_pool,
    make_report,
    make_static,
)


def compat(report: Report) -> dict[str, Any]:
    features = render_compat(
        report, render_native(report, clock=CLOCK, liquid_above_usd=LIQUID_USD)
    )
    sent: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(features))
    return sent


def test_every_field_has_a_rule_or_is_always_null() -> None:
    own = {"token_name", "token_symbol", "total_supply", "holders"}
    assert {*TABLE, *own, *ALWAYS_NULL} == set(CompatFeatures.__struct_fields__)


SAME = [
    ("mint_or_burn_function", "is_mintable"),
    ("can_selfdestruct", "selfdestruct"),
    ("external_call", "external_call"),
    ("is_proxy", "is_proxy"),
    ("tax_can_be_modified", "slippage_modifiable"),
    ("trading_cooldown", "trading_cooldown"),
    ("has_blacklist_or_whitelist", "is_blacklisted"),
    ("has_blacklist_or_whitelist", "is_whitelisted"),
]


@pytest.mark.parametrize(("name", "renamed"), SAME)
@pytest.mark.parametrize(("value", "digit"), [(True, "1"), (False, "0"), (None, None)])
def test_a_finding_is_a_digit_and_unknown_is_null(
    name: str, renamed: str, value: Any, digit: Any
) -> None:
    assert compat(make_report(static=make_static(**{name: value})))[renamed] == digit


OTHER = [
    ({"is_open_source": True}, "is_open_source", "1"),
    ({"is_open_source": None}, "is_open_source", None),
    ({"owner_address": OWNER}, "owner_address", OWNER_SHOWN),
    ({"owner_address": None}, "owner_address", None),
    ({"pools": None}, "is_in_dex", None),
    ({"pools": ()}, "is_in_dex", "0"),
    ({"pools": None}, "launchpad_token", None),
    ({"is_launchpad_token": True}, "launchpad_token", "1"),
    ({"creator_address": OWNER}, "creator_address", OWNER_SHOWN),
    ({"creator_balance_raw": 2 * 10**20}, "creator_percent", "0.02"),
    ({"creator_balance_raw": 10**22}, "creator_percent", "1"),
    ({"creator_balance_raw": None}, "creator_percent", None),
    ({"owner_can_change_balance": None}, "owner_change_balance", None),
    ({"owner_can_change_balance": True}, "owner_change_balance", "1"),
    ({"name": "A", "symbol": "B"}, "token_name", "A"),
    ({"name": "A", "symbol": "B"}, "token_symbol", "B"),
    ({"supply_raw": 10**24 + 5 * 10**17}, "total_supply", "1000000.5"),
    ({"supply_raw": 2**256 - 1, "decimals": 0}, "total_supply", str(2**256 - 1)),
]


@pytest.mark.parametrize(("token", "field", "expected"), OTHER)
def test_contract_level_values(token: dict[str, Any], field: str, expected: Any) -> None:
    assert compat(make_report(**token))[field] == expected


TAXES = [
    # pools (buy tax, sell tax), receive, send -> buy, sell
    ([(1.0, 2.0)], 3.0, 4.0, "1", "2"),
    ([(None, None)], 3.0, 4.0, "3", "4"),
    ([], 3.0, 4.0, "3", "4"),
    ([], None, None, None, None),
    ([(None, 2.0), (5.0, 6.0)], 3.0, 4.0, "5", "2"),
    ([("pending", "pending"), (5.0, 6.0)], 3.0, 4.0, "5", "6"),
    ([("pending", "pending")], 12.5, None, "12.5", None),
    ([(0.0, 0.0)], 3.0, 4.0, "0", "0"),
]


@pytest.mark.parametrize(("pools", "receive", "send", "buy", "sell"), TAXES)
def test_taxes_come_from_the_first_pool_that_has_one(
    pools: list[tuple[Any, Any]], receive: Any, send: Any, buy: Any, sell: Any
) -> None:
    rows = tuple(
        make_pool(
            ordinal=at,
            buy="pending" if bought == "pending" else "passed",
            buy_tax=None if bought == "pending" else bought,
            sell="pending" if sold == "pending" else "passed",
            sell_tax=None if sold == "pending" else sold,
        )
        for at, (bought, sold) in enumerate(pools)
    )
    sent = compat(make_report(pools=rows, receive_tax=receive, send_tax=send))
    assert (sent["buy_tax"], sent["sell_tax"]) == (buy, sell)


EITHER = [
    (True, True, "1"),
    (True, False, "1"),
    (True, None, "1"),
    (False, False, "0"),
    (False, None, None),
    (None, None, None),
]


@pytest.mark.parametrize(("one", "other", "expected"), EITHER)
def test_either_true_beats_null_beats_false(one: Any, other: Any, expected: Any) -> None:
    whale = make_static(has_trading_cap=one, has_position_cap=other)
    assert compat(make_report(static=whale))["is_anti_whale"] == expected
    setters = make_static(trading_cap_can_be_modified=one, position_cap_can_be_modified=other)
    kept = make_report(static=setters, ownership_renounced=False)
    assert compat(kept)["anti_whale_modifiable"] == expected


def test_owner_gated_flags_are_read_after_the_gate() -> None:
    static = make_static(
        pause_status_can_be_modified=True,
        trading_cap_can_be_modified=True,
        position_cap_can_be_modified=True,
    )
    for renounced, expected in [(True, "0"), (False, "1"), (None, "1")]:
        sent = compat(make_report(static=static, ownership_renounced=renounced))
        assert (sent["transfer_pausable"], sent["anti_whale_modifiable"]) == (expected, expected)


def test_a_failing_buy_makes_transfers_pausable() -> None:
    sent = compat(make_report(pools=(make_pool(buy="refused", buy_tax=None),)))
    assert (sent["cannot_buy"], sent["transfer_pausable"]) == ("1", "1")


@pytest.mark.parametrize(
    ("bypass", "spenders", "expected"),
    [(True, (OWNER,), "1"), (True, (), "0"), (False, (), "0"), (None, (), None)],
)
def test_only_an_address_specific_bypass_is_a_hidden_owner(
    bypass: Any, spenders: Any, expected: Any
) -> None:
    report = make_report(allowance_bypass=bypass, privileged_spenders=spenders)
    assert compat(report)["hidden_owner"] == expected


def test_holders_carry_a_share_and_not_a_percent() -> None:
    features = make_report(holders=(make_holder(OWNER, 25 * 10**22 + 1),))
    rendered = render_compat(
        features, render_native(features, clock=CLOCK, liquid_above_usd=LIQUID_USD)
    )
    assert rendered.holders == (
        CompatHolder(address=OWNER_SHOWN, balance="250000.000000000000000001", percent="0.25"),
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.02, "0.02"), (1.0, "1"), (12.5, "12.5"), (0.0, "0"), (100.0, "100"), (1e-7, "0.0000001")],
)
def test_numbers_are_the_shortest_exact_string(value: float, text: str) -> None:
    assert number_text(value) == text


@given(amounts)
def test_decimal_text_loses_nothing(amount_raw: RawAmount) -> None:
    whole, _, fraction = decimal_text(amount_raw, decimals=18).partition(".")
    assert int(whole + fraction.ljust(18, "0")) == amount_raw
    assert not fraction.endswith("0")
