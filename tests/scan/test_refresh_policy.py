"""Protects the schedule of analyses: money at stake first, the idle rarely, incomplete before
complete."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.service.record_report import NextRefresh
from assay.service.refresh_policy import next_refresh, refresh_of_refused
from config.settings import AnalysisSettings
from core.report.report import Report
from sql.tokens.task_queue import NEW_WORTH
from tests.harness.bare_reports import bare_report
from tests.harness.store.sample_rows import address, pool_result

SETTINGS = AnalysisSettings(
    refresh_after_s=60.5, background_refresh_s=1_000.0, min_liquidity_usd=100.0
)
NOW_S = 5_000


def report(*quote_sides_usd: float, is_settled: bool = True) -> Report:
    """With a pool for each of these, worth so much on the side of the quote token."""
    bare = bare_report(address(1), scanned_at_s=NOW_S, is_settled=is_settled)
    pools = tuple(
        msgspec.structs.replace(pool_result(ordinal=at), quote_side_usd=usd)
        for at, usd in enumerate(quote_sides_usd)
    )
    return msgspec.structs.replace(bare, pools=pools)


@pytest.mark.parametrize(
    ("analysed", "worth", "wait_s"),
    [
        (report(), 0, 7_000),
        (msgspec.structs.replace(report(), pools=None), 0, 7_000),
        (report(0.0), 0, 7_000),
        (report(99.0), 20_000, 7_000),
        (report(60.0, 39.0), 20_000, 7_000),
        (report(100.0), 20_043, 7_000),
        (report(101.0), 20_086, 1_000),
        (report(60.0, 41.0), 20_086, 1_000),
        (report(9_999.0), 40_000, 1_000),
        (report(1e9 - 1), 90_000, 1_000),
        (report(-5.0), 0, 7_000),
        (report(1e300), NEW_WORTH // 2 - 1, 1_000),
        (report(is_settled=False), NEW_WORTH // 2, 61),
        (report(1e9, is_settled=False), NEW_WORTH // 2, 61),
    ],
    ids=lambda value: None if isinstance(value, Report) else str(value),
)
def test_worth_and_time_of_the_next_analysis(analysed: Report, worth: int, wait_s: int) -> None:
    found = next_refresh(analysed, SETTINGS)
    assert found == NextRefresh(worth=worth, due_s=NOW_S + wait_s)


def test_what_is_no_token_is_worth_nothing_and_waits_as_the_idle_do() -> None:
    assert refresh_of_refused(NOW_S, SETTINGS) == NextRefresh(worth=0, due_s=NOW_S + 7_000)


@given(one=st.floats(0, 1e300), other=st.floats(0, 1e300))
def test_more_money_is_never_worth_less(one: float, other: float) -> None:
    less, more = sorted((one, other))
    first, second = (next_refresh(report(usd), SETTINGS) for usd in (less, more))
    assert first.worth <= second.worth < NEW_WORTH
    assert first.due_s >= second.due_s
