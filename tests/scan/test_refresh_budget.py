"""Protects the budget of the background: no work begins once it is used up."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from assay.service.background.refresh_budget import AnalysisCost, RefreshBudget
from core.rpc.request_meter import metered, note_requests
from tests.harness.clock import HandClock

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
