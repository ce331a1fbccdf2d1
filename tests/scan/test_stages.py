"""Protects the composition of an analysis: the order of its stages, and its waits for the node."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from analysis.pipeline.scan import STAGES
from analysis.pipeline.stages import Stage, round_trips, running

Log = list[str]


def step(name: str, *, fails: bool = False) -> Callable[[Log], Awaitable[None]]:
    async def run(log: Log) -> None:
        await asyncio.sleep(0)
        if fails:
            raise LookupError(name)
        log.append(name)

    return run


def test_an_analysis_takes_three_round_trips() -> None:
    trips = round_trips(STAGES)
    assert [f"{at}: {', '.join(names)}" for at, names in trips.items()] == [
        "1: first mint, first round",
        "2: buys, conditions, hooks, owner slots, clock, caps, parties, issuer, creating, "
        "liquidity",
        "3: power holders, sales, thefts, probes, creation state",
    ]


def test_every_stage_is_named_once_and_stands_behind_what_it_needs() -> None:
    names = [stage.name for stage in STAGES]
    assert len(set(names)) == len(names)
    for at, stage in enumerate(STAGES):
        assert set(stage.needs) <= set(names[:at]), stage.name


def test_every_result_reaches_the_settled_report() -> None:
    """No stage but the last is needed by none."""
    needed = {name for stage in STAGES for name in stage.needs}
    assert {stage.name for stage in STAGES} - needed == {"settled report"}


async def test_a_stage_starts_once_what_it_needs_is_done() -> None:
    log: Log = []
    stages = (
        Stage(name="a", run=step("a")),
        Stage(name="b", run=step("b"), needs=("a",)),
        Stage(name="c", run=step("c"), needs=("a",)),
        Stage(name="d", run=step("d"), needs=("b", "c")),
    )
    async with running(stages, log) as finished:
        await finished("d")
    assert (log[0], sorted(log[1:3]), log[3]) == ("a", ["b", "c"], "d")


async def test_a_failure_reaches_who_waits_for_what_needed_it_and_nobody_else() -> None:
    log: Log = []
    stages = (
        Stage(name="fails", run=step("fails", fails=True)),
        Stage(name="other", run=step("other")),
        Stage(name="last", run=step("last"), needs=("fails", "other")),
    )
    async with running(stages, log) as finished:
        await finished("other")
        with pytest.raises(LookupError, match="fails"):
            await finished("last")
    assert log == ["other"]


async def test_leaving_ends_what_still_runs() -> None:
    ended = asyncio.Event()

    async def forever(_log: Log) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    stages = (Stage(name="a", run=step("a")), Stage(name="forever", run=forever))
    async with running(stages, Log()) as finished:
        await finished("a")
    assert ended.is_set()
