"""Protects the schedule and budget of analyses: money at stake first, the idle rarely."""

import asyncio

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.service.background.refresh_budget import AnalysisCost, RefreshBudget
from assay.service.record_report import NextRefresh
from assay.service.refresh_policy import next_refresh, refresh_of_refused
from config.settings import AnalysisSettings
from core.report.report import Report
from core.rpc.request_meter import metered, note_requests
from sql.tokens.task_queue import NEW_WORTH
from tests.harness.bare_reports import bare_report
from tests.harness.clock import HandClock
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


HOUR_S = 3_600.0


@given(
    costs=st.lists(
        st.tuples(st.integers(0, 400), st.floats(0, 30), st.floats(0, 2_000)), max_size=200
    )
)
def test_what_was_spent_stays_within_what_the_hours_gave(
    costs: list[tuple[int, float, float]],
) -> None:
    """Except for the last analysis before its end, whose cost is open."""
    clock = HandClock()
    started_s = clock.now_s
    budget = RefreshBudget(requests_per_hour=1_000, cpu_s_per_hour=60.0, now_s=clock)
    requests, cpu_s = 0, 0.0
    for count, seconds, pause_s in costs:
        clock.now_s += pause_s
        if not budget.is_left:
            continue
        hours = 1 + (clock.now_s - started_s) / HOUR_S
        assert requests < 1_000 * hours + 1e-6
        assert cpu_s < 60.0 * hours + 1e-6
        budget.spend(AnalysisCost(requests=count, cpu_s=seconds))
        requests += count
        cpu_s += seconds


def test_a_debt_is_paid_off_first_and_savings_end_at_an_hours_worth() -> None:
    clock = HandClock()
    budget = RefreshBudget(requests_per_hour=100, cpu_s_per_hour=100.0, now_s=clock)
    budget.spend(AnalysisCost(requests=200, cpu_s=0.0))
    clock.now_s += HOUR_S - 1
    is_left = [budget.is_left]
    clock.now_s += 2
    is_left.append(budget.is_left)
    clock.now_s += 100 * HOUR_S
    budget.spend(AnalysisCost(requests=0, cpu_s=100.0))
    is_left.append(budget.is_left)
    assert is_left == [False, True, False]


async def test_a_meter_counts_the_requests_of_the_tasks_it_starts_and_no_others() -> None:
    started = asyncio.Event()

    async def work(count: int) -> None:
        await started.wait()
        note_requests(["eth_call"] * count)

    other = asyncio.create_task(work(1_000))
    with metered() as meter:
        note_requests(["eth_chainId"])
        own = asyncio.create_task(work(10))
    started.set()
    await asyncio.gather(own, other)
    note_requests(["eth_call"] * 100)
    assert meter.requests == 11
    assert meter.methods == {"eth_chainId": 1, "eth_call": 10}
