"""Protects the native features: exactly the specified keys and types, and every stated rule."""

from typing import Any

import msgspec
import pytest
from hypothesis import given

from analysis.token.contract_clock import ContractClock
from api.formats.native.native import render_native
from api.formats.native.shapes import Deadline, Holder, NativeFeatures
from core.report.fields.static_findings import StaticFindings
from core.report.report import LIQUIDITY_UNKNOWN, Report
from tests.harness.api.sample_reports import (
    CLOCK,
    DEAD,
    LIQUID_USD,
    MINED_AT_S,
    OWNER,
    OWNER_SHOWN,
    PAIR,
    make_holder,
    make_limit,
    make_pool,
    make_report,
    make_static,
    reports,
)

OWNER_GATED = (
    "pause_status_can_be_modified",
    "trading_cap_can_be_modified",
    "position_cap_can_be_modified",
)


def native(report: Report, clock: ContractClock = CLOCK) -> NativeFeatures:
    return render_native(report, clock=clock, liquid_above_usd=LIQUID_USD)


@given(reports())
def test_the_owner_gate_and_nothing_else_changes_a_static_finding(report: Report) -> None:
    sent = native(report)
    for name in StaticFindings.__struct_fields__:
        found, shown = getattr(report.static, name), getattr(sent, name)
        if name == "timebomb":
            continue
        if name.endswith("_update_function"):
            assert shown == (found or ())
            continue
        if name in OWNER_GATED and report.token.ownership_renounced is True and found is True:
            assert shown is False
        else:
            assert shown == found


def test_an_assessed_owner_power_has_its_key() -> None:
    assert native(make_report(owner_can_change_balance=False)).owner_can_change_balance is False
    assert native(make_report()).owner_can_change_balance is msgspec.UNSET


YEAR_S = 365 * 86_400
STORED = {"source": "storage", "slot": "0x" + "0" * 63 + "5"}


@pytest.mark.parametrize(
    ("limit", "token", "sent", "status"),
    [
        (make_limit(MINED_AT_S + 1), {}, True, "armed"),
        (make_limit(MINED_AT_S), {}, False, "passed"),
        (make_limit(2**32), {}, False, "unreachable"),
        (make_limit(None, **STORED), {}, True, "unknown"),
        (make_limit(MINED_AT_S - 2 * YEAR_S, **STORED), {}, False, "passed"),
        (
            make_limit(MINED_AT_S - 2 * YEAR_S, **STORED),
            {"owner_slots_vacant": None},
            True,
            "resettable",
        ),
        (
            make_limit(MINED_AT_S - 2 * YEAR_S, **STORED),
            {"ownership_renounced": None},
            True,
            "resettable",
        ),
    ],
)
def test_timebomb_follows_its_status(limit: Any, token: Any, sent: Any, status: Any) -> None:
    report = make_report(static=make_static(timebomb=True), clock_limits=(limit,), **token)
    features = native(report)
    assert (features.timebomb, features.timebomb_status) == (sent, status)


@given(reports())
def test_a_status_never_turns_a_finding_on(report: Report) -> None:
    found, features = report.static.timebomb, native(report)
    if found is not True:
        assert features.timebomb == found
        assert (features.timebomb_status, features.timebomb_deadlines) == (None, ())
    else:
        assert features.timebomb is (features.timebomb_status not in ("passed", "unreachable"))


def test_an_unknown_clock_is_an_unknown_status() -> None:
    limits = (make_limit(MINED_AT_S + 60), make_limit(2**32))
    report = make_report(static=make_static(timebomb=True), clock_limits=limits)
    features = render_native(report, clock=None, liquid_above_usd=LIQUID_USD)
    assert (features.timebomb, features.timebomb_status) == (True, "unknown")
    assert features.timebomb_deadlines == ()


def test_deadlines_are_ordered_by_the_time_they_are_reached() -> None:
    limits = (
        make_limit(MINED_AT_S + 100, **STORED),
        make_limit(20_000_005),
        make_limit(19_999_999),
        make_limit(2**32),
        make_limit(7),
    )
    report = make_report(static=make_static(timebomb=True), clock_limits=limits)
    assert native(report).timebomb_deadlines == (
        Deadline(
            source="constant",
            slot=None,
            clock="block",
            value=19_999_999,
            passed=True,
            estimated_unix_time=MINED_AT_S - 12,
        ),
        Deadline(
            source="constant",
            slot=None,
            clock="block",
            value=20_000_005,
            passed=False,
            estimated_unix_time=MINED_AT_S + 60,
        ),
        Deadline(
            source="storage",
            slot=STORED["slot"],
            clock="timestamp",
            value=MINED_AT_S + 100,
            passed=False,
            estimated_unix_time=MINED_AT_S + 100,
        ),
    )


@pytest.mark.parametrize(
    ("outcome", "tax", "success", "sent_tax"),
    [
        ("passed", 1.5, True, 1.5),
        ("passed", None, True, None),
        ("refused", None, False, None),
        ("pending", None, "pending", "pending"),
        (None, None, None, None),
    ],
)
def test_trade_outcomes_are_four_valued(
    outcome: Any, tax: Any, success: Any, sent_tax: Any
) -> None:
    row = make_pool(buy=outcome, buy_tax=tax, sell=outcome, sell_tax=tax)
    pool = native(make_report(pools=(row,))).dex[0]
    assert (pool.buy_success, pool.buy_tax) == (success, sent_tax)
    assert (pool.sell_success, pool.sell_tax) == (success, sent_tax)


@pytest.mark.parametrize(
    ("buys", "expected"),
    [
        ((), None),
        ((None,), None),
        (("pending", None), None),
        (("refused",), True),
        (("refused", "pending"), True),
        (("refused", "refused"), True),
        (("refused", "passed"), False),
        (("passed", None), False),
    ],
)
def test_cannot_buy_reads_settled_pools_alone(buys: tuple[Any, ...], expected: Any) -> None:
    pools = tuple(make_pool(ordinal=at, buy=buy) for at, buy in enumerate(buys))
    assert native(make_report(pools=pools)).cannot_buy is expected


@pytest.mark.parametrize(
    ("pools", "is_liquid", "is_in_dex"),
    [
        (None, None, None),
        ((), False, False),
        ((make_pool(quote_side_usd=100.0),), False, True),
        ((make_pool(quote_side_usd=100.01),), True, True),
        ((make_pool(kind="curve_a", quote_side_usd=5000.0),), True, False),
        # A pending trade may still prove that it takes more; an unknown is no 0.
        ((make_pool(quote_side_usd=0.0, buy="pending"),), None, True),
        ((make_pool(quote_side_usd=0.0, error_code=LIQUIDITY_UNKNOWN),), None, True),
        (
            (
                make_pool(quote_side_usd=0.0, error_code=LIQUIDITY_UNKNOWN),
                make_pool(ordinal=1, quote_side_usd=100.01),
            ),
            True,
            True,
        ),
    ],
)
def test_liquidity_is_judged_on_the_quote_side(pools: Any, is_liquid: Any, is_in_dex: Any) -> None:
    features = native(make_report(pools=pools))
    assert (features.is_liquid, features.is_in_dex) == (is_liquid, is_in_dex)


def test_liquidity_that_nobody_knows_is_null() -> None:
    unread = make_pool(liquidity_usd=0.0, error_code=LIQUIDITY_UNKNOWN)
    [pool] = native(make_report(pools=(unread,))).dex
    assert (pool.liquidity, pool.error_code) == (None, "liquidity_unknown")


def test_pools_are_sent_deepest_first() -> None:
    pools = tuple(
        make_pool(ordinal=at, liquidity_usd=usd) for at, usd in enumerate([5.0, 9.0, 7.0])
    )
    assert [pool.liquidity for pool in native(make_report(pools=pools)).dex] == [9.0, 7.0, 5.0]


@pytest.mark.parametrize(
    ("launchpad_answer", "name", "pools", "sent"),
    [
        (True, "pad", (make_pool(),), (True, "pad")),
        (True, None, (make_pool(),), (True, "launchpad")),
        (True, "pad", None, (True, "pad")),
        (False, None, (make_pool(),), (False, None)),
        (None, None, (make_pool(),), (None, None)),
        (None, None, (), (None, None)),
        (None, None, None, (None, None)),
        (False, "pad", (make_pool(),), (False, None)),
    ],
)
def test_a_launchpad_is_named_only_where_one_issued_the_token(
    launchpad_answer: Any, name: Any, pools: Any, sent: Any
) -> None:
    features = native(
        make_report(is_launchpad_token=launchpad_answer, launchpad_name=name, pools=pools)
    )
    assert (features.is_launchpad_token, features.launchpad_name) == sent


def test_supply_is_in_whole_tokens_and_percents_are_cut() -> None:
    features = native(
        make_report(
            decimals=6,
            supply_raw=3_000_000_000,
            burned_raw=1_999_999_999,
            creator_balance_raw=20_999,
            holders=(
                make_holder(DEAD, 1_999_999_999, role="burn"),
                make_holder(OWNER, 0, role="burn", at=1),
                make_holder(OWNER, 750_000_000),
            ),
        )
    )
    assert (features.supply, features.normalized_supply) == (3000.0, 3000.0)
    assert (features.burned_supply, features.circulating_supply) == (1999.999999, 1000.000001)
    assert features.burned_supply_pct == 66.66
    assert (features.creator_balance, features.creator_percent) == (0.020999, 0.0)
    assert [holder.token_amount for holder in features.burn_addresses] == [1999.999999]
    assert features.top_holders == (
        Holder(
            owner_address=OWNER_SHOWN,
            token_amount=750.0,
            pct_held=25.0,
            error_message=None,
            error_code=None,
        ),
    )


def test_ten_holders_are_sent_largest_first() -> None:
    holders = tuple(make_holder(OWNER, 100 - at, at=at) for at in reversed(range(12)))
    sent = native(make_report(decimals=0, holders=holders)).top_holders
    assert [holder.token_amount for holder in sent] == [float(100 - at) for at in range(10)]


def test_a_token_without_supply_has_percents_of_zero() -> None:
    features = native(make_report(supply_raw=0, holders=(make_holder(OWNER, 0),)))
    assert (features.burned_supply_pct, features.creator_percent) == (0.0, 0.0)
    assert features.top_holders[0].pct_held == 0.0


def test_an_unknown_creator_is_null() -> None:
    features = native(make_report(creator_address=None, creator_balance_raw=None))
    assert features.creator_address is None
    assert (features.creator_balance, features.creator_percent) == (None, None)


def test_addresses_are_checksummed() -> None:
    features = native(make_report(owner_address=OWNER, privileged_spenders=(OWNER,)))
    assert features.owner_address == features.creator_address == OWNER_SHOWN
    assert features.privileged_spenders == (OWNER_SHOWN,)
    assert features.dex[0].pair != PAIR
    assert features.dex[0].pair.lower() == PAIR


def test_the_scan_time_is_utc_to_the_second() -> None:
    assert native(make_report(scanned_at_s=1_790_000_000)).last_scanned_at == "2026-09-21T14:13:20Z"
