"""Every null has its reason, and nothing else has one."""

from typing import Any

import msgspec
import pytest
from hypothesis import given

from api.formats.native.native import render_native
from api.formats.native.null_reasons import unknowns
from api.formats.native.shapes import NativeFeatures
from core.report.report import EvidenceRow, Report
from tests.harness.api.sample_reports import (
    CLOCK,
    LIQUID_USD,
    make_pool,
    make_report,
    make_static,
    reports,
)

NOTHING_TO_TELL = {"has_open_source_implementation", "launchpad_name", "timebomb_status"}
"""Null where there is no proxy, no launch platform, no limit."""


def native(report: Report) -> NativeFeatures:
    return render_native(report, clock=CLOCK, liquid_above_usd=LIQUID_USD)


@given(reports())
def test_a_null_has_a_reason_and_an_answer_has_none(report: Report) -> None:
    shown = native(report)
    sent = msgspec.to_builtins(shown)
    reasons = unknowns(report, shown)
    null = {key for key, value in sent.items() if value is None}
    assert null - NOTHING_TO_TELL <= reasons.keys()
    answered = {key for key, value in sent.items() if value is not None and value != ()}
    assert not answered & reasons.keys()
    assert all(reasons.values())


@given(reports())
def test_a_pools_null_has_a_reason_too(report: Report) -> None:
    shown = native(report)
    reasons = unknowns(report, shown)
    for pool in shown.dex:
        name = f"dex.{(pool.pool_id or pool.pair).lower()}"
        for key in ("buy_success", "buy_tax", "sell_success", "sell_tax", "liquidity"):
            if getattr(pool, key) is None:
                assert f"{name}.{key}" in reasons


@pytest.mark.parametrize(
    ("changes", "key", "word"),
    [
        ({"static": make_static(external_call=None)}, "external_call", "bytecode"),
        ({"static": make_static(has_trading_cap=None)}, "has_trading_cap", "storage"),
        ({"transfer_success": None}, "transfer_success", "wallet"),
        ({"transfer_success": None, "transfer_checked_at_s": None}, "send_tax", "node"),
        ({"transfer_success": False, "send_tax": None}, "send_tax", "fails"),
        ({"allowance_bypass": None}, "allowance_bypass", "node did not run the simulation"),
        ({"owner_address": None}, "owner_address", "getter"),
        ({"untested_conditions": None}, "untested_conditions", "conditions"),
    ],
)
def test_the_reason_says_what_was_missing(changes: dict[str, Any], key: str, word: str) -> None:
    report = make_report(**{"send_tax": None, "transfer_checked_at_s": 1} | changes)
    assert word in unknowns(report, native(report))[key]


def test_the_proof_that_is_missing_is_pointed_to() -> None:
    row = EvidenceRow(key="funds_can_be_drained:open", body="{}")
    report = msgspec.structs.replace(make_report(funds_can_be_drained=None), evidence=(row,))
    reason = unknowns(report, native(report))["funds_can_be_drained"]
    assert "funds_can_be_drained:open" in reason


def test_a_pool_says_what_its_node_lacked() -> None:
    pool = make_pool(buy=None, buy_tax=None, error_code="NODE", error_message="eth_simulateV1: no")
    report = make_report(pools=(pool,))
    reasons = unknowns(report, native(report))
    assert reasons[f"dex.{pool.pool}.buy_success"] == "eth_simulateV1: no"
