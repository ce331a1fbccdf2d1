"""Simulations that are given up at a moment, so that an answer can still be given without them."""

import asyncio
from collections.abc import Sequence
from typing import Final

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.simulation import trace_backend
from analysis.simulation.backends import perform
from analysis.simulation.eth_call_backend import SimulationJob
from analysis.simulation.simulate_v1 import NotSimulated, Simulation, SimulationResult
from core.errors import UpstreamError

LATE: Final = "time ran out before the node had answered"


async def perform_in_time(
    context: ChainContext,
    first_round: FirstRound,
    jobs: Sequence[SimulationJob],
    *,
    until_s: float | None,
) -> list[SimulationResult | NotSimulated]:
    """Return the result of each simulation; all of them travel together. NotSimulated of each where
    the node has not answered by `until_s`, a time of the event loop's clock. None: wait for it.

    Raises UpstreamError.
    """
    try:
        async with asyncio.timeout_at(until_s):
            return await perform(context.node, context.capabilities, jobs, codes=first_round.codes)
    except TimeoutError:
        return [NotSimulated(missing="NODE", reason=LATE)] * len(jobs)


async def trace_in_time(
    context: ChainContext, simulations: Sequence[Simulation], *, until_s: float | None
) -> list[SimulationResult | None]:
    """Return the result of each simulation by traces, which run in blocks that `eth_simulateV1`
    does not reach. None of each that the node has not traced by `until_s`, or cannot. Never
    raises."""
    none: list[SimulationResult | None] = [None] * len(simulations)
    if not simulations:
        return none
    traces, pin = context.capabilities.traces, simulations[0].pin
    try:
        async with asyncio.timeout_at(until_s):
            if not await trace_backend.is_possible(context.node, traces, pin):
                return none
            results = await trace_backend.perform(context.node, simulations)
    except (TimeoutError, UpstreamError):
        return none
    return [result if isinstance(result, SimulationResult) else None for result in results]
