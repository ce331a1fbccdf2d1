"""Protects the thresholds of an established token: an unknown figure never reaches one."""

import msgspec
import pytest

from core.report.track_record import (
    DAY_S,
    IndexedRecord,
    RecordThresholds,
    TrackRecord,
    TradeCounts,
    make_record,
)

LIMITS = RecordThresholds(
    age_s=180 * DAY_S, sellers=1_000, sellers_per_day=20, liquidity_usd=100_000.0
)
NOW_S = 1_800_000_000
ENOUGH = IndexedRecord(
    created_block=5,
    first_trade_block=9,
    first_trade_time_s=NOW_S - 180 * DAY_S,
    spread_sellers=1_000,
    whole=TradeCounts(sellers=1_000, sales=1_000),
    last_day=TradeCounts(sellers=3, sales=3),
)


def record(
    known: IndexedRecord = ENOUGH,
    *,
    created_s: int | None = None,
    liquidity_usd: float | None = 100_000.0,
) -> TrackRecord:
    return make_record(
        known,
        created_s=created_s,
        block_time_s=NOW_S,
        liquidity_usd=liquidity_usd,
        thresholds=LIMITS,
    )


def but(**changed: object) -> IndexedRecord:
    return msgspec.structs.replace(ENOUGH, **changed)


@pytest.mark.parametrize(
    ("known", "created_s", "liquidity_usd", "is_established"),
    [
        (ENOUGH, None, 100_000.0, True),
        (but(first_trade_time_s=NOW_S - 180 * DAY_S + 1), None, 100_000.0, False),
        (but(first_trade_time_s=NOW_S - DAY_S), NOW_S - 180 * DAY_S, 100_000.0, True),
        (but(first_trade_time_s=NOW_S - DAY_S), NOW_S - 180 * DAY_S + 1, 100_000.0, False),
        (but(first_trade_time_s=None), None, 100_000.0, False),
        (but(spread_sellers=999), None, 100_000.0, False),
        (but(spread_sellers=None), None, 100_000.0, False),
        (but(spread_sellers=20, whole=TradeCounts(sellers=2_500)), None, 100_000.0, False),
        (ENOUGH, None, 99_999.99, False),
        (ENOUGH, None, None, False),
        (but(last_day=TradeCounts(sales_failed=0)), None, 100_000.0, True),
        (but(last_day=TradeCounts(sales_failed=1)), None, 100_000.0, False),
        (but(whole=TradeCounts(sellers=1_000, sales_failed=1)), None, 100_000.0, True),
        (IndexedRecord(), None, 100_000.0, False),
        (IndexedRecord(created_block=1), NOW_S - 900 * DAY_S, 100_000.0, False),
    ],
    ids=[
        "all at their thresholds",
        "a second too young",
        "creation known, history begins in the middle",
        "creation a second too young",
        "age unknown",
        "one seller short",
        "sellers unknown",
        "all in one day",
        "a cent short",
        "liquidity unknown",
        "no sale failed today",
        "a sale failed today",
        "a sale failed long ago",
        "nothing known",
        "old, without any history",
    ],
)
def test_a_token_is_established_only_by_known_figures(
    known: IndexedRecord, created_s: int | None, liquidity_usd: float | None, is_established: bool
) -> None:
    found = record(known, created_s=created_s, liquidity_usd=liquidity_usd)
    assert found.is_established is is_established
    assert found.thresholds == LIMITS


def test_age_is_from_the_oldest_proof() -> None:
    by_trade = record()
    assert (by_trade.first_seen_block, by_trade.history_from_block) == (5, 9)
    assert by_trade.age_s == 180 * DAY_S
    created = record(created_s=NOW_S - 400 * DAY_S)
    assert (created.age_s, created.first_seen_s) == (400 * DAY_S, NOW_S - 400 * DAY_S)


def test_without_any_proof_nothing_is_known() -> None:
    found = record(IndexedRecord(), liquidity_usd=None)
    assert found == TrackRecord(
        first_seen_block=None,
        first_seen_s=None,
        age_s=None,
        history_from_block=None,
        spread_sellers=None,
        whole=TradeCounts(),
        last_day=TradeCounts(),
        powers_used=None,
        liquidity_usd=None,
        thresholds=LIMITS,
        is_established=False,
    )
