"""Stages: named steps of one job, each started as soon as the steps that it needs are done."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

import msgspec

State = TypeVar("State")

StageObserver = Callable[[str, float], None]
"""Receives the name of a stage and the seconds from its start to its end."""


class Stage(msgspec.Struct, Generic[State], frozen=True, kw_only=True):
    """One step. It reads what earlier stages left in the state, and leaves its own results."""

    name: str
    run: Callable[[State], Awaitable[None]]
    needs: tuple[str, ...] = ()
    """Stages that stand before it in the list."""
    reads_node: bool = False
    """True if it waits for one round trip to the node, where nothing is unusual."""


def round_trips(stages: Sequence[Stage[State]]) -> dict[int, tuple[str, ...]]:
    """Return the stages that wait for the node, by the round trip that they are in, from 1."""
    depth: dict[str, int] = {}
    for stage in stages:
        before = max((depth[name] for name in stage.needs), default=0)
        depth[stage.name] = before + stage.reads_node
    trips: dict[int, tuple[str, ...]] = {}
    for stage in stages:
        if stage.reads_node:
            at = depth[stage.name]
            trips[at] = (*trips.get(at, ()), stage.name)
    return trips


@asynccontextmanager
async def running(
    stages: Sequence[Stage[State]], state: State, *, observe: StageObserver | None = None
) -> AsyncIterator[Callable[[str], Awaitable[None]]]:
    """Run the stages, and yield a function that waits for a stage by its name.

    It raises the error of that stage or of one that it needs. Stages that still run at the end of
    the block are cancelled. `observe` is called for each stage that ends without an error.
    """
    tasks: dict[str, asyncio.Task[None]] = {}
    for stage in stages:
        needed = [tasks[name] for name in stage.needs]
        tasks[stage.name] = asyncio.create_task(_run_after(needed, stage, state, observe))

    async def finished(name: str) -> None:
        await tasks[name]

    try:
        yield finished
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)


async def _run_after(
    needed: Sequence[asyncio.Task[None]],
    stage: Stage[State],
    state: State,
    observe: StageObserver | None,
) -> None:
    await asyncio.gather(*needed)
    started_s = time.perf_counter()
    await stage.run(state)
    if observe is not None:
        observe(stage.name, time.perf_counter() - started_s)
