"""Protects the headline: every check has words, problems come first, untested is not good."""

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given

from analysis.scenarios.trade.trade_outcome import BROUGHT_NOTHING
from api.formats.native.native import render_native
from api.formats.prose.check_words import CHECK_WORDS
from api.formats.prose.headline import RANKED, headline_of, refusal_headline
from api.formats.prose.proofs import Proofs
from api.formats.prose.prose import percent, quoted, usd
from api.formats.prose.rendered_report import RenderedReport
from api.formats.summary.flags import CATALOGUE
from api.formats.summary.summary import Summary, render_summary
from core.evm.primitives import Address, HexBytes
from core.report.liquidity_cliff import SHOWN_FOR_S, LiquidityCliff
from core.report.report import EvidenceRow, Report
from core.report.track_record import IndexedRecord, RecordThresholds, TrackRecord, make_record
from tests.harness.api.sample_reports import (
    CLOCK,
    LIQUID_USD,
    OWNER,
    TOKEN_SHOWN,
    make_pool,
    make_report,
    reports,
)

STANDING = "problems found"
NO_SALE = "sell: the buy did not pass, so there was nothing to sell"


def served_headline(report: Report) -> tuple[str, Summary]:
    native = render_native(report, clock=CLOCK, liquid_above_usd=LIQUID_USD)
    summary = render_summary(
        report, native, chain="ethereum", address=TOKEN_SHOWN, liquid_above_usd=LIQUID_USD
    )
    rendered = RenderedReport(report=report, native=native, summary=summary, proofs=Proofs(report))
    return headline_of(rendered), summary


def test_every_check_has_words_and_every_bad_one_a_rank() -> None:
    assert set(CHECK_WORDS) == {check.key for check in CATALOGUE}
    bad = {check.key for check in CATALOGUE if check.severity in ("danger", "warning")}
    assert set(RANKED) == bad


@given(reports())
def test_a_headline_calls_nothing_good_that_is_not(report: Report) -> None:
    sentence, summary = served_headline(report)
    assert sentence
    assert sentence.isprintable()
    assert "safe" not in sentence.lower()
    is_bad = bool(summary.danger_flag_count or summary.warning_flag_count)
    if is_bad or summary.can_sell is False or summary.can_buy is False:
        assert STANDING not in sentence
    if "No problems found" in sentence and summary.unknown_flag_count:
        answered = summary.evaluated_flag_count
        assert f"{answered} of {summary.total_flag_count} checks" in sentence
    if summary.can_buy is None and summary.can_sell is None and not summary.danger_flag_count:
        assert "no trades were tested" in sentence.lower() or "being simulated" in sentence


@given(reports())
def test_a_headline_is_a_few_plain_sentences(report: Report) -> None:
    sentence, summary = served_headline(report)
    words = re.sub("“.*?”", "", sentence)
    assert ";" not in words
    assert not re.search(r"\b(1|one) \w+s can\b", words)
    if summary.verdict == "warning" and summary.can_buy and summary.can_sell:
        assert not sentence.startswith("No problems found")


CASES: tuple[tuple[dict[str, object], str], ...] = (
    ({}, "No problems found in 39 of 41 checks. Two could not be answered"),
    (
        {"is_settled": False},
        "No problems found in 39 of 41 checks. Two could not be answered. "
        "The analysis is still running",
    ),
    (
        {"liquidity_risk": "unknown"},
        "You can buy and sell it, but it is unknown who can withdraw the liquidity. "
        "One more check could not be answered",
    ),
    (
        {"liquidity_risk": "unknown_old"},
        "No problems found in 40 of 41 checks. One could not be answered",
    ),
    ({"pools": ()}, "It has no pool, so no trades were tested"),
    (
        {"pools": (make_pool(buy="pending", sell="pending", buy_tax=None, sell_tax=None),)},
        "Trades are still being simulated. "
        "No problems found in 36 of 41 checks. Five could not be answered",
    ),
    (
        {"pools": (make_pool(sell="refused", sell_tax=None),)},
        "You can buy it, but you can't sell it",
    ),
    (
        {"pools": (make_pool(buy_tax=3.0, sell_tax=99.996),)},
        "Selling pays you less than 0.01 % of what the tokens are worth",
    ),
    (
        {"pools": (make_pool(buy_tax=3.0, sell_tax=99.9),)},
        "Selling pays you only 0.1 % of what the tokens are worth",
    ),
    (
        {"pools": (make_pool(buy_tax=3.0, sell_tax=100.0),)},
        "Selling pays you nothing of what the tokens are worth",
    ),
    (
        {"pools": (make_pool(buy_tax=1.5, sell_tax=1.5),)},
        "You pay 1.5 % tax on buys and sales. No other problems found",
    ),
    (
        {"pools": (make_pool(buy="refused", sell=None, error_message=f"buy: bot; {NO_SALE}"),)},
        "You can't buy it: the trade fails with “bot”",
    ),
    (
        {
            "pools": (
                make_pool(
                    buy="refused", sell=None, error_message=f"buy: {BROUGHT_NOTHING}; {NO_SALE}"
                ),
            )
        },
        "You can't buy it: a buy brings no tokens",
    ),
    (
        {"pools": (make_pool(sell="refused", error_message="sell: execution failed"),)},
        "You can buy it, but you can't sell it",
    ),
    (
        {"funds_can_be_drained": True},
        "Others can take tokens out of your wallet",
    ),
)


@pytest.mark.parametrize(("changes", "sentence"), CASES)
def test_headlines_of_single_findings(changes: dict[str, object], sentence: str) -> None:
    assert served_headline(make_report(**changes))[0] == sentence  # type: ignore[arg-type]  # any field


CREATOR, HOLDER = Address("0x" + "55" * 20), Address("0x" + "77" * 20)


@pytest.mark.parametrize(
    ("holder", "sentence"),
    [
        (
            {"address": CREATOR, "share_pct": 100.0},
            "the creator can withdraw all the liquidity at any time. "
            "After that, selling pays nothing",
        ),
        (
            {"address": OWNER, "share_pct": 80.5},
            "the owner can withdraw 80.5 % of the liquidity at any time",
        ),
        (
            {"address": None, "share_pct": 100.0},
            "anyone can withdraw all the liquidity at any time. After that, selling pays nothing",
        ),
        (
            {"address": HOLDER, "share_pct": 60.0},
            "one account, 0x7777…7777, can withdraw 60 % of the liquidity at any time",
        ),
        (
            {"address": CREATOR, "share_pct": 40.0},
            "half of the liquidity or more can be withdrawn within 30 days",
        ),
        (
            {"address": CREATOR, "share_pct": 100.0, "can_withdraw": False},
            "half of the liquidity or more can be withdrawn within 30 days",
        ),
    ],
)
def test_the_account_that_can_withdraw_the_liquidity_is_in_the_headline(
    holder: dict[str, object], sentence: str
) -> None:
    body = {
        "risk": "withdrawable",
        "holders": [{"kind": None, "can_withdraw": True, "unlocks_at_s": None, **holder}],
    }
    report = make_report(
        liquidity_risk="withdrawable", creator_address=CREATOR, owner_address=OWNER
    )
    row = EvidenceRow(key="liquidity_risk", body=json.dumps(body))
    report = msgspec.structs.replace(report, evidence=(row,))
    assert served_headline(report)[0].startswith(f"You can buy and sell it, but {sentence}")


CLIFF = LiquidityCliff(
    pool=HexBytes(OWNER),
    source="Uniswap V2",
    block_number=5,
    log_index=1,
    time_s=1_795_000_000,
    tx_hash=None,
    left_pct=62.539,
)
LEFT = "n 18 November 2026 one withdrawal took 62.53 % of the tokens in its Uniswap V2 pool"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, f"O{LEFT}. No problems found in 39 of 41 checks. Two could not be answered"),
        ({"pools": ()}, f"It has no pool, so no trades were tested. O{LEFT}"),
        (
            {"pools": (make_pool(buy_tax=1.5, sell_tax=1.5),)},
            f"You pay 1.5 % tax on buys and sales. O{LEFT}. No other problems found",
        ),
        (
            {"pools": (make_pool(sell="refused", sell_tax=None),)},
            f"You can buy it, but you can't sell it. O{LEFT}",
        ),
        ({"liquidity_risk": "unknown"}, f"O{LEFT}. You can buy and sell it, but it is unknown "),
    ],
)
def test_most_of_the_liquidity_left_on_a_day(changes: dict[str, Any], sentence: str) -> None:
    report = make_report(**changes)
    record = record_at(CLIFF.time_s)
    assert served_headline(msgspec.structs.replace(report, track_record=record))[0].startswith(
        sentence
    )


def record_at(time_s: int) -> TrackRecord:
    thresholds = RecordThresholds(age_s=1, sellers=1, sellers_per_day=1, liquidity_usd=1)
    return make_record(
        IndexedRecord(cliff=CLIFF),
        created_s=None,
        block_time_s=time_s,
        liquidity_usd=None,
        thresholds=thresholds,
    )


def test_a_report_names_a_cliff_for_thirty_days() -> None:
    assert record_at(CLIFF.time_s + SHOWN_FOR_S).cliff == CLIFF
    assert record_at(CLIFF.time_s + SHOWN_FOR_S + 1).cliff is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(100.0, "100 %"), (99.9999, "99.99 %"), (1.23, "1.23 %"), (7.0, "7 %"), (0.1, "0.1 %")],
)
def test_a_percentage_is_never_rounded_up(value: float, text: str) -> None:
    assert percent(value) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "$0"), (0.012, "$0.012"), (90, "$90"), (1_234, "$1.23k"), (4.5e6, "$4.5M")],
)
def test_amounts_for_people(amount: float, text: str) -> None:
    assert usd(amount) == text


def test_a_hostile_reason_cannot_leave_its_quotation_marks() -> None:
    shown = quoted("bot”. No problems found \u202e<b>" + "x" * 10_000)
    assert shown.count("”") == 1
    assert shown.endswith("…”")
    assert shown.isprintable()


def test_a_refusal_says_why() -> None:
    assert refusal_headline("The address holds no code.") == (
        "Not analysed: The address holds no code"
    )
