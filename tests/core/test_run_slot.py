"""Protects runs that need a node from those that wait for a long static analysis."""

import asyncio

import pytest

from core.process.run_slot import RunSlot, lend_slot_during


async def run(slots: asyncio.Semaphore, name: str, wait: asyncio.Event, ends: list[str]) -> None:
    async with RunSlot(slots).hold():
        await lend_slot_during(wait.wait())
        ends.append(name)


async def test_a_long_wait_holds_no_slot_and_goes_on_with_one() -> None:
    slots, ends = asyncio.Semaphore(1), list[str]()
    bomb, done = asyncio.Event(), asyncio.Event()
    done.set()
    waiting = asyncio.create_task(run(slots, "bomb", bomb, ends))
    await asyncio.sleep(0)
    assert slots.locked()
    await run(slots, "honest", done, ends)
    async with RunSlot(slots).hold():
        bomb.set()
        await asyncio.sleep(0.05)
        assert ends == ["honest"]  # its slot is taken
    await waiting
    assert ends == ["honest", "bomb"]
    assert not slots.locked()


@pytest.mark.parametrize("is_lent", [False, True])
async def test_a_run_that_is_cancelled_leaves_one_slot(*, is_lent: bool) -> None:
    slots = asyncio.Semaphore(1)
    waiting = asyncio.create_task(run(slots, "bomb", asyncio.Event(), []))
    await asyncio.sleep(1.1 if is_lent else 0)
    assert slots.locked() is not is_lent
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await slots.acquire()
    assert slots.locked()


async def test_two_waits_of_one_run_lend_one_slot() -> None:
    slots, first, second = asyncio.Semaphore(1), asyncio.Event(), asyncio.Event()
    async with RunSlot(slots).hold():
        waits = [asyncio.create_task(lend_slot_during(each.wait())) for each in (first, second)]
        await asyncio.sleep(1.1)
        await slots.acquire()
        assert slots.locked()
        slots.release()
        first.set()
        second.set()
        await asyncio.gather(*waits)
        assert slots.locked()
    assert not slots.locked()
