"""Protects the cache of answers: fresh, within its bound, one run for all who wait."""

import asyncio

import pytest

from api.serving.answer_cache import AnswerCache, CachedAnswer, SharedRuns


class Watch:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def answer(kilobytes: int) -> CachedAnswer:
    """One that takes so much memory, of which a thousand bytes are not its body."""
    made = CachedAnswer(status=200, body=b"x" * (1_000 * kilobytes - 1_000))
    assert made.held_bytes == 1_000 * kilobytes
    return made


def test_an_answer_is_served_until_its_time_is_up() -> None:
    watch = Watch()
    cache = AnswerCache[str](max_bytes=100_000, now_s=watch)
    cache.put("a", answer(10), for_s=120)
    watch.now_s += 119.9
    assert cache.get("a") == answer(10)
    watch.now_s += 0.1
    assert cache.get("a") is None
    assert cache.held_bytes == 0


def test_the_least_recently_used_go_first() -> None:
    cache = AnswerCache[str](max_bytes=100_000, now_s=Watch())
    for key in "abc":
        cache.put(key, answer(33), for_s=60)
    cache.get("a")
    cache.put("d", answer(33), for_s=60)
    assert [key for key in "abcd" if cache.get(key)] == ["a", "c", "d"]
    assert cache.held_bytes == 99_000


def test_an_answer_above_the_bound_is_not_kept() -> None:
    cache = AnswerCache[str](max_bytes=100_000, now_s=Watch())
    cache.put("a", answer(101), for_s=60)
    assert cache.get("a") is None
    assert cache.held_bytes == 0


def test_a_new_answer_takes_the_place_of_the_old_one() -> None:
    cache = AnswerCache[str](max_bytes=100_000, now_s=Watch())
    cache.put("a", answer(60), for_s=60)
    cache.put("a", answer(70), for_s=60)
    assert cache.get("a") == answer(70)
    assert cache.held_bytes == 70_000


def test_another_form_lasts_as_long_as_what_it_was_made_from() -> None:
    watch = Watch()
    cache = AnswerCache[str](max_bytes=100_000, now_s=watch)
    plain, packed = answer(10), answer(5)
    cache.put("a", plain, for_s=120)
    watch.now_s += 100
    cache.put_beside("a.gz", packed, of="a", made_from=plain)
    assert cache.get("a.gz") == packed
    assert cache.held_bytes == 15_000
    watch.now_s += 20
    assert cache.get("a.gz") is None


def test_another_form_of_what_is_gone_is_not_kept() -> None:
    cache = AnswerCache[str](max_bytes=100_000, now_s=Watch())
    old, new = answer(10), answer(11)
    cache.put_beside("a.gz", answer(5), of="a", made_from=old)
    cache.put("a", new, for_s=120)
    cache.put_beside("a.gz", answer(5), of="a", made_from=old)
    assert cache.get("a.gz") is None


async def test_callers_share_one_run_and_the_next_call_starts_another() -> None:
    runs = SharedRuns[str, int]()
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
    runs = SharedRuns[str, int]()
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
    runs = SharedRuns[str, int]()

    async def work() -> int:
        raise LookupError

    outcomes = await asyncio.gather(
        *(runs.run("a", work) for _ in range(3)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [LookupError] * 3


async def test_closing_ends_what_still_runs() -> None:
    runs = SharedRuns[str, bool]()
    caller = asyncio.create_task(runs.run("a", asyncio.Event().wait))
    await asyncio.sleep(0)
    await runs.aclose()
    with pytest.raises(asyncio.CancelledError):
        await caller
