"""Protects the summary: the catalogue, each rule, counts that add up, reasons and verdict."""

from typing import Any

import msgspec
import pytest
from hypothesis import given

from api.formats.native.native import render_native
from api.formats.summary.flags import CATALOGUE, STATUS_ORDER, Flag, catalogue
from api.formats.summary.summary import (
    VERDICTS,
    DominantPool,
    Summary,
    refuse_summary,
    render_summary,
)
from core.evm.primitives import Address
from core.report.fields.scan_findings import ScanFindings
from core.report.powers import Power
from core.report.report import Report
from core.report.track_record import IndexedRecord, RecordThresholds, make_record
from tests.harness.api.sample_reports import (
    CLOCK,
    DEAD,
    LIQUID_USD,
    OWNER,
    PAIR,
    TOKEN_SHOWN,
    make_holder,
    make_pool,
    make_report,
    make_static,
    reports,
)

SEVERITIES = {
    "danger": [
        "allowance_bypass",
        "funds_can_be_drained",
        "owner_can_change_balance",
        "transfer_failed",
        "view_function_modifies_state",
        "high_tax",
        "sell_blocked_later",
        "sell_tax_rises",
        "sell_blocked_after_others",
        "sell_depends_on_size",
        "sell_depends_on_conditions",
        "dominant_pool_unsellable",
        "disguised_code",
        "balances_can_be_created",
    ],
    "warning": [
        "access_restrictions",
        "transfer_restrictions",
        "pause_status_can_be_modified",
        "trading_cooldown",
        "mint_or_burn_function",
        "tax_can_be_modified",
        "elevated_tax",
        "timebomb",
        "is_proxy",
        "trading_cap_can_be_modified",
        "position_cap_can_be_modified",
        "ownership_not_renounced",
        "holder_concentration",
        "creator_holds_supply",
        "has_enough_liquidity",
        "untested_conditions",
        "hidden_owner_controls",
        "unproved_code",
        "liquidity_can_leave",
    ],
    "info": [
        "transfer_guarded_by_storage",
        "transfer_from_guarded_by_storage",
        "has_pause_functionality",
        "has_tax_functionality",
        "has_owner_functionality",
        "external_call",
        "can_selfdestruct",
        "privileged_spenders",
    ],
    "notice": ["is_open_source"],
}


def summary(report: Report) -> Summary:
    native = render_native(report, clock=CLOCK, liquid_above_usd=LIQUID_USD)
    return render_summary(
        report, native, chain="ethereum", address=TOKEN_SHOWN, liquid_above_usd=LIQUID_USD
    )


def flag(report: Report, key: str) -> Flag:
    return next(flag for flag in summary(report).flags if flag.key == key)


def test_the_catalogue_is_the_decided_one() -> None:
    decided = [(key, severity) for severity, keys in SEVERITIES.items() for key in keys]
    assert [(check.key, check.severity) for check in CATALOGUE] == decided


@pytest.mark.parametrize("risk", [None, "unknown", "held", "withdrawable"])
@pytest.mark.parametrize("has_check", [True, False])
def test_the_catalogue_is_the_same_for_every_token(risk: str | None, *, has_check: bool) -> None:
    report = msgspec.structs.replace(
        make_report(), scan=ScanFindings(liquidity_risk=risk if has_check else None)
    )
    keys = [
        [
            check.key
            for check in catalogue(each, has_owner_simulation=False, has_liquidity_check=has_check)
        ]
        for each in (report, None)
    ]
    assert keys[0] == keys[1]
    assert ("liquidity_can_leave" in keys[0]) is has_check
    if has_check and risk is None:
        assert flag(report, "liquidity_can_leave").status == "unknown"


@given(reports())
def test_counts_add_up_and_flags_are_in_order(report: Report) -> None:
    sent = summary(report)
    checks = catalogue(report, has_owner_simulation=False)
    assert sent.total_flag_count == len(checks) == len(sent.flags)
    assert sent.evaluated_flag_count == (
        sent.active_flag_count + sent.passed_flag_count + sent.notice_flag_count
    )
    assert sent.total_flag_count == sent.evaluated_flag_count + sent.unknown_flag_count
    assert sent.active_flag_count == (
        sent.danger_flag_count + sent.warning_flag_count + sent.info_flag_count
    )
    statuses: list[str] = [flag.status for flag in sent.flags]
    assert statuses == sorted(statuses, key=list[str](STATUS_ORDER).index)
    for status, count in [
        ("danger", sent.danger_flag_count),
        ("warning", sent.warning_flag_count),
        ("info", sent.info_flag_count),
        ("notice", sent.notice_flag_count),
        ("safe", sent.passed_flag_count),
        ("unknown", sent.unknown_flag_count),
    ]:
        assert statuses.count(status) == count


@given(reports())
def test_a_flag_is_unknown_exactly_when_it_has_no_answer(report: Report) -> None:
    for flag in summary(report).flags:
        assert (flag.status == "unknown") is (flag.value is None)
        assert flag.active is (flag.status in ("danger", "warning", "info"))


@given(reports())
def test_the_verdict_is_that_of_the_first_reason(report: Report) -> None:
    sent = summary(report)
    assert list(sent.verdict_reasons) == [key for key in VERDICTS if key in sent.verdict_reasons]
    expected = VERDICTS[sent.verdict_reasons[0]] if sent.verdict_reasons else "safe"
    assert sent.verdict == expected


WHALE = make_holder(OWNER, 21 * 10**22)
"""Just over a fifth."""

FIVE_FIFTHS = tuple(make_holder(Address(f"0x{at:040x}"), 2 * 10**23, at=at) for at in range(9, 14))
"""All of the supply, and nobody over a fifth."""

RULES: list[tuple[str, dict[str, Any], str, bool | None]] = [
    ("allowance_bypass", {"allowance_bypass": True}, "danger", True),
    ("allowance_bypass", {"allowance_bypass": None}, "unknown", None),
    ("funds_can_be_drained", {"funds_can_be_drained": True}, "danger", True),
    ("balances_can_be_created", {"balances_can_be_created": True}, "danger", True),
    ("balances_can_be_created", {"balances_can_be_created": None}, "unknown", None),
    ("owner_can_change_balance", {"owner_can_change_balance": True}, "danger", True),
    ("transfer_failed", {"transfer_success": False}, "danger", True),
    ("transfer_failed", {"transfer_success": True}, "safe", False),
    ("transfer_failed", {"transfer_success": None}, "unknown", None),
    ("high_tax", {"send_tax": 50.0}, "danger", True),
    ("high_tax", {"pools": (make_pool(sell_tax=99.0),)}, "danger", True),
    ("high_tax", {"send_tax": 49.9}, "safe", False),
    ("high_tax", {"send_tax": None, "pools": None}, "unknown", None),
    ("high_tax", {"send_tax": None, "receive_tax": None}, "safe", False),
    ("high_tax", {"pools": (make_pool(buy_tax=None),)}, "unknown", None),
    ("high_tax", {"pools": (make_pool(sell_tax=None),)}, "unknown", None),
    ("high_tax", {"pools": (make_pool(sell_tax=None), make_pool(buy_tax=None))}, "safe", False),
    ("high_tax", {"pools": ()}, "safe", False),
    ("sell_blocked_later", {"sell_blocked_later": True}, "danger", True),
    ("sell_blocked_later", {"sell_blocked_later": None}, "unknown", None),
    ("sell_tax_rises", {"sell_tax_rises": True}, "danger", True),
    ("sell_depends_on_size", {"sell_depends_on_size": True}, "danger", True),
    ("sell_depends_on_conditions", {"sell_depends_on_conditions": True}, "danger", True),
    ("sell_blocked_after_others", {"sell_blocked_after_others": True}, "danger", True),
    ("dominant_pool_unsellable", {}, "safe", False),
    ("dominant_pool_unsellable", {"pools": ()}, "unknown", None),
    ("dominant_pool_unsellable", {"pools": (make_pool(sell="refused"),)}, "danger", True),
    (
        "dominant_pool_unsellable",
        {"pools": (make_pool(sell="refused"), make_pool(ordinal=1))},
        "danger",
        True,
    ),
    ("dominant_pool_unsellable", {"pools": (make_pool(sell="pending"),)}, "unknown", None),
    ("untested_conditions", {"untested_conditions": True}, "warning", True),
    ("untested_conditions", {"untested_conditions": None}, "unknown", None),
    ("hidden_owner_controls", {"hidden_owner_controls": True}, "warning", True),
    ("unproved_code", {"unproved_custody": True}, "warning", True),
    ("unproved_code", {"unproved_custody": None}, "unknown", None),
    ("unproved_code", {"creates_balances": True}, "warning", True),
    ("unproved_code", {"creates_balances": None}, "unknown", None),
    ("unproved_code", {"unexplained_creation": True}, "warning", True),
    ("unproved_code", {"unexplained_creation": None}, "safe", False),
    ("unproved_code", {}, "safe", False),
    ("disguised_code", {"hidden_creation": True}, "danger", True),
    ("disguised_code", {"hidden_creation": False}, "safe", False),
    ("disguised_code", {"hidden_creation": None}, "unknown", None),
    ("liquidity_can_leave", {"liquidity_risk": "withdrawable"}, "warning", True),
    ("liquidity_can_leave", {"liquidity_risk": "unknown_old"}, "info", True),
    ("liquidity_can_leave", {"liquidity_risk": "held"}, "safe", False),
    ("liquidity_can_leave", {"liquidity_risk": "unknown"}, "unknown", None),
    ("elevated_tax", {"send_tax": 10.0}, "warning", True),
    ("elevated_tax", {"send_tax": 9.99}, "safe", False),
    ("elevated_tax", {"send_tax": 50.0}, "warning", True),
    ("elevated_tax", {"pools": (make_pool(sell_tax=99.9),)}, "warning", True),
    ("elevated_tax", {"pools": (make_pool(buy_tax=None),)}, "unknown", None),
    ("access_restrictions", {"static": {"has_blacklist_or_whitelist": True}}, "warning", True),
    (
        "transfer_restrictions",
        {"static": {"has_trading_cap_functionality": None, "has_position_cap_functionality": True}},
        "warning",
        True,
    ),
    ("transfer_restrictions", {"static": {"has_trading_cap_functionality": None}}, "unknown", None),
    ("timebomb", {"static": {"timebomb": "pending"}}, "unknown", None),
    ("timebomb", {"static": {"timebomb": True}}, "warning", True),
    (
        "pause_status_can_be_modified",
        {"static": {"pause_status_can_be_modified": True}, "ownership_renounced": True},
        "safe",
        False,
    ),
    ("ownership_not_renounced", {"ownership_renounced": False}, "warning", True),
    ("ownership_not_renounced", {"ownership_renounced": True}, "safe", False),
    ("ownership_not_renounced", {"ownership_renounced": None}, "unknown", None),
    ("holder_concentration", {"holders": ()}, "unknown", None),
    ("holder_concentration", {"holders": (WHALE,)}, "warning", True),
    ("holder_concentration", {"holders": (make_holder(OWNER, 2 * 10**23),)}, "unknown", None),
    ("holder_concentration", {"holders": FIVE_FIFTHS}, "safe", False),
    ("holder_concentration", {"holders": FIVE_FIFTHS[:-1]}, "safe", False),
    ("holder_concentration", {"holders": FIVE_FIFTHS[:-2]}, "unknown", None),
    ("holder_concentration", {"holders": FIVE_FIFTHS[:-2], "others_raw": 0}, "unknown", None),
    (
        "holder_concentration",
        {"holders": FIVE_FIFTHS[:-2], "others_raw": 2 * 10**23 - 1},
        "unknown",
        None,
    ),
    (
        "holder_concentration",
        {"holders": FIVE_FIFTHS[:-2], "others_raw": 2 * 10**23},
        "safe",
        False,
    ),
    ("holder_concentration", {"holders": (WHALE,), "others_raw": 10**24}, "warning", True),
    ("holder_concentration", {"holders": (make_holder(DEAD, 10**24),)}, "safe", False),
    ("holder_concentration", {"holders": (make_holder(PAIR, 10**24),)}, "safe", False),
    ("holder_concentration", {"holders": (WHALE,), "pools": None}, "unknown", None),
    ("holder_concentration", {"holders": (make_holder(OWNER, 1),), "pools": None}, "unknown", None),
    ("holder_concentration", {"holders": FIVE_FIFTHS, "pools": None}, "safe", False),
    ("creator_holds_supply", {"creator_balance_raw": 501 * 10**20}, "warning", True),
    ("creator_holds_supply", {"creator_balance_raw": 5 * 10**22}, "safe", False),
    ("creator_holds_supply", {"creator_balance_raw": None}, "unknown", None),
    ("has_enough_liquidity", {"pools": ()}, "warning", False),
    ("has_enough_liquidity", {"pools": None}, "unknown", None),
    ("has_enough_liquidity", {"pools": (make_pool(liquidity_usd=100.0),)}, "warning", False),
    ("has_enough_liquidity", {"pools": (make_pool(liquidity_usd=100.5),)}, "safe", True),
    ("can_selfdestruct", {"static": {"can_selfdestruct": True}}, "info", True),
    ("privileged_spenders", {"privileged_spenders": (OWNER,)}, "info", True),
    ("privileged_spenders", {"allowance_bypass": None}, "unknown", None),
    ("is_open_source", {"is_open_source": True}, "safe", True),
    ("is_open_source", {"is_open_source": False}, "notice", False),
    ("is_open_source", {"is_open_source": None}, "unknown", None),
]


@pytest.mark.parametrize(("key", "changes", "status", "value"), RULES)
def test_each_rule(key: str, changes: dict[str, Any], status: str, value: Any) -> None:
    changes = dict(changes)
    static = make_static(**changes.pop("static", {}))
    resolved = flag(make_report(static=static, **changes), key)
    assert (resolved.status, resolved.value) == (status, value)


@pytest.mark.parametrize("severity", ["warning", "info", "danger"])
def test_every_static_finding_fires_with_its_severity(severity: str) -> None:
    report = make_report(static=make_static(everything=True), ownership_renounced=False)
    fired = {flag.key for flag in summary(report).flags if flag.status == severity}
    plain = set(SEVERITIES[severity]) & set(report.static.__struct_fields__)
    assert plain <= fired


def _pools(*results: tuple[Any, Any]) -> tuple[Any, ...]:
    return tuple(
        make_pool(
            ordinal=at,
            buy=buy,
            buy_tax=0.0 if buy == "passed" else None,
            sell=sell,
            sell_tax=0.0 if sell == "passed" else None,
        )
        for at, (buy, sell) in enumerate(results)
    )


KNOWN_HOLDER = (make_holder(OWNER, 1),)

VERDICT_CASES: list[tuple[dict[str, Any], Any, list[str]]] = [
    ({}, "safe", []),
    (
        {"pools": _pools(("passed", "refused"))},
        "danger",
        [
            "sell_failed",
            "danger_flags",
            "dominant_pool_unsellable",
            "unanswered_danger_checks",
        ],
    ),
    ({"pools": _pools(("refused", None))}, "danger", ["buy_failed", "unanswered_danger_checks"]),
    (
        {"pools": _pools(("refused", "refused")), "transfer_success": False},
        "danger",
        [
            *("sell_failed", "buy_failed", "danger_flags", "dominant_pool_unsellable"),
            "unanswered_danger_checks",
        ],
    ),
    (
        {"pools": _pools(("refused", "refused"), ("passed", "passed"))},
        "danger",
        ["danger_flags", "dominant_pool_unsellable"],
    ),
    ({"sell_blocked_later": True}, "danger", ["danger_flags", "sell_blocked_later"]),
    (
        {"sell_tax_rises": True, "sell_depends_on_size": True, "is_open_source": None},
        "danger",
        ["danger_flags", "sell_tax_rises", "sell_depends_on_size"],
    ),
    (
        {"sell_blocked_after_others": True, "sell_blocked_later": None},
        "danger",
        ["danger_flags", "sell_blocked_after_others", "unanswered_danger_checks"],
    ),
    ({"untested_conditions": True}, "warning", ["warning_flags", "untested_conditions"]),
    ({"untested_conditions": None}, "warning", ["unanswered_danger_checks"]),
    ({"liquidity_risk": "withdrawable"}, "warning", ["warning_flags", "liquidity_can_leave"]),
    ({"liquidity_risk": "unknown"}, "warning", ["unanswered_danger_checks"]),
    ({"liquidity_risk": "unknown_old"}, "safe", []),
    ({"liquidity_risk": "held"}, "safe", []),
    ({"liquidity_risk": None}, "safe", []),
    ({"funds_can_be_drained": None}, "warning", ["unanswered_danger_checks"]),
    ({"sell_depends_on_size": None}, "warning", ["unanswered_danger_checks"]),
    (
        {"pools": None, "allowance_bypass": None},
        "warning",
        ["unanswered_danger_checks", "no_trade_simulated"],
    ),
    ({"funds_can_be_drained": True}, "danger", ["danger_flags"]),
    ({"pools": ()}, "warning", ["no_liquidity", "warning_flags", "no_trade_simulated"]),
    ({"ownership_renounced": False}, "warning", ["warning_flags"]),
    ({"pools": None}, "not_tested", ["no_trade_simulated"]),
    ({"pools": _pools(("pending", "pending"))}, "not_tested", ["no_trade_simulated"]),
]


@pytest.mark.parametrize(("changes", "verdict", "reasons"), VERDICT_CASES)
def test_reasons_come_most_severe_first(
    changes: dict[str, Any], verdict: Any, reasons: list[str]
) -> None:
    sent = summary(make_report(holders=KNOWN_HOLDER, **changes))
    assert (sent.verdict, list(sent.verdict_reasons)) == (verdict, reasons)


def test_pools_are_summed_and_the_deepest_shown() -> None:
    deep = make_pool(
        ordinal=1,
        pool=Address("0x" + "11" * 20),
        kind="AmmV3",
        liquidity_usd=900.5,
        buy_tax=1.0,
        sell="pending",
        sell_tax=None,
    )
    sent = summary(make_report(pools=(make_pool(liquidity_usd=100.0), deep)))
    assert (sent.total_liquidity_usd, sent.detected_pool_count) == (1000.5, 2)
    assert sent.dominant_pool == DominantPool(
        type="AmmV3",
        address="0x" + "11" * 20,
        liquidity=900.5,
        can_buy=True,
        can_sell=None,
        buy_tax=1.0,
        sell_tax=None,
    )


@pytest.mark.parametrize("pools", [None, ()])
def test_without_a_pool_liquidity_is_null_and_not_zero(pools: Any) -> None:
    sent = summary(make_report(pools=pools))
    assert (sent.total_liquidity_usd, sent.dominant_pool, sent.detected_pool_count) == (
        None,
        None,
        0,
    )


def test_highlights_are_three_resolved_flags() -> None:
    sent = summary(make_report())
    by_key = {flag.key: flag for flag in sent.flags}
    keys = ["access_restrictions", "transfer_restrictions", "has_enough_liquidity"]
    assert list(sent.highlights) == [by_key[key] for key in keys]


def test_a_refusal_knows_nothing() -> None:
    sent = refuse_summary(
        chain="ethereum", address=TOKEN_SHOWN, error="no code", error_code="not_a_contract"
    )
    assert (sent.verdict, sent.verdict_reasons, sent.error_code) == (None, (), "not_a_contract")
    assert {flag.status for flag in (*sent.flags, *sent.highlights)} == {"unknown"}
    assert sent.unknown_flag_count == sent.total_flag_count
    assert sent.total_flag_count == len(CATALOGUE) - 1, "one depends on a setting"
    assert (sent.evaluated_flag_count, sent.has_enough_liquidity, sent.can_buy) == (0, None, None)


RECORD = make_record(
    IndexedRecord(created_block=1, spread_sellers=1_000),
    created_s=0,
    block_time_s=200 * 86_400,
    liquidity_usd=200_000.0,
    thresholds=RecordThresholds(
        age_s=180 * 86_400, sellers=1_000, sellers_per_day=20, liquidity_usd=100_000.0
    ),
)


def power(**changes: Any) -> Power:
    plain: dict[str, Any] = {
        "check": "mint_or_burn_function",
        "what": "mint",
        "holder_kind": "wallet",
    }
    return Power(**plain | changes)


@pytest.mark.parametrize(
    ("changes", "alone", "with_record"),
    [
        ({"unproved_custody": True}, ("unproved_code",), ()),
        ({"unproved_custody": None}, ("unanswered_danger_checks",), ()),
        ({"funds_can_be_drained": None}, ("unanswered_danger_checks",), ()),
        ({"sell_blocked_later": None}, *[("unanswered_danger_checks",)] * 2),
        ({"funds_can_be_drained": True}, (), ()),
        ({"powers": (power(),)}, ("live_powers",), ("live_powers",)),
        ({"powers": (power(holder_kind="list"),)}, ("live_powers",), ()),
        ({"powers": (power(holder_kind="contract"),)}, ("live_powers",), ()),
        ({"powers": (power(holder_kind="unknown"),)}, ("live_powers",), ("live_powers",)),
        ({"powers": (power(holder_kind="anybody"),)}, ("live_powers",), ("live_powers",)),
        ({"powers": (power(holder_kind="multisig"),)}, (), ()),
        ({"powers": (power(holder_kind="nobody"),)}, (), ()),
        ({"powers": (power(holder_kind="nobody", bound="tight"),)}, *[("live_powers",)] * 2),
        ({"powers": (power(bound="low"),)}, (), ()),
    ],
)
def test_a_record_stands_in_for_proofs_and_for_nothing_seen(
    changes: dict[str, Any], alone: tuple[str, ...], with_record: tuple[str, ...]
) -> None:
    flags = {"warning_flags", "danger_flags"}
    changes = dict(changes)
    powers = changes.pop("powers", ())
    report = make_report(holders=KNOWN_HOLDER, **changes)
    report = msgspec.structs.replace(report, powers=powers)
    for record, reasons in ((None, alone), (RECORD, with_record)):
        shown = summary(msgspec.structs.replace(report, track_record=record))
        assert tuple(each for each in shown.verdict_reasons if each not in flags) == reasons
    if changes.get("funds_can_be_drained"):
        shown = summary(msgspec.structs.replace(report, track_record=RECORD))
        assert shown.verdict == "danger"


@pytest.mark.parametrize(
    ("powers", "status"),
    [
        ((), "warning"),
        ((power(),), "warning"),
        ((power(holder_kind="multisig", detail="3 of 5"),), "info"),
        ((power(holder_kind="holders"),), "info"),
        ((power(holder_kind="holders"), power(holder_kind="wallet")), "warning"),
        ((power(check="is_proxy"),), "warning"),
    ],
)
def test_a_check_on_powers_is_as_severe_as_its_worst_holder(
    powers: tuple[Power, ...], status: str
) -> None:
    report = make_report(static=make_static(mint_or_burn_function=True))
    report = msgspec.structs.replace(report, powers=powers)
    assert flag(report, "mint_or_burn_function").status == status


STOP = {"check": "pause_status_can_be_modified", "what": "stop"}


@pytest.mark.parametrize(
    ("changes", "is_renounced", "status"),
    [
        (STOP, True, "danger"),
        (STOP | {"what": "tax"}, True, "danger"),
        (STOP, False, "warning"),
        (STOP, None, "warning"),
        (STOP | {"what": "mint"}, True, "warning"),
        (STOP | {"holder_kind": "list"}, True, "warning"),
        (STOP | {"holder_kind": "contract"}, True, "warning"),
        (STOP | {"bound": "low"}, True, "warning"),
    ],
)
def test_a_wallet_that_keeps_control_after_renouncing_is_a_danger(
    changes: dict[str, Any], *, is_renounced: bool | None, status: str
) -> None:
    report = make_report(hidden_owner_controls=True, ownership_renounced=is_renounced)
    report = msgspec.structs.replace(report, powers=(power(**changes),))
    assert flag(report, "hidden_owner_controls").status == status
