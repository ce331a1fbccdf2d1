"""Protects shared work: concurrent callers of one key share one run, whichever of them leaves."""

import asyncio

import pytest

from core.process.single_flight import SingleFlight


async def test_callers_share_one_run_and_the_next_call_starts_another() -> None:
    runs = SingleFlight[str, int]()
    gate, starts = asyncio.Event(), 0

    async def work() -> int:
        nonlocal starts
        starts += 1
        mine = starts
        await gate.wait()
        return mine

    callers = [asyncio.create_task(runs.run("a", work)) for _ in range(5)]
    other = asyncio.create_task(runs.run("b", work))
    await asyncio.sleep(0)
    gate.set()
    assert await asyncio.gather(*callers) == [1] * 5
    assert await other == 2
    assert await runs.run("a", work) == 3


async def test_a_caller_who_leaves_does_not_end_the_run() -> None:
    runs = SingleFlight[str, int]()
    gate = asyncio.Event()

    async def work() -> int:
        await gate.wait()
        return 7

    leaving = asyncio.create_task(runs.run("a", work))
    staying = asyncio.create_task(runs.run("a", work))
    await asyncio.sleep(0)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    gate.set()
    assert await staying == 7


async def test_every_caller_sees_the_failure() -> None:
    runs = SingleFlight[str, int]()

    async def work() -> int:
        raise LookupError

    outcomes = await asyncio.gather(
        *(runs.run("a", work) for _ in range(3)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [LookupError] * 3


async def test_closing_ends_what_still_runs() -> None:
    runs = SingleFlight[str, bool]()
    caller = asyncio.create_task(runs.run("a", asyncio.Event().wait))
    await asyncio.sleep(0)
    await runs.aclose()
    with pytest.raises(asyncio.CancelledError):
        await caller


async def test_a_run_started_anew_is_the_one_that_later_callers_share() -> None:
    runs = SingleFlight[str, int]()
    gates = [asyncio.Event(), asyncio.Event()]

    async def work(number: int) -> int:
        await gates[number].wait()
        return number

    old = asyncio.create_task(runs.run("a", lambda: work(0)))
    await asyncio.sleep(0)
    new = asyncio.create_task(runs.run("a", lambda: work(1), anew=True))
    await asyncio.sleep(0)
    gates[0].set()
    assert await old == 0
    late = asyncio.create_task(runs.run("a", lambda: work(0)))
    await asyncio.sleep(0)
    gates[1].set()
    assert [await new, await late] == [1, 1]
