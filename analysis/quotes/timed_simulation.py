"""Simulations with a deadline, after which the answer is given without them."""

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
    """Return the results of the simulations, which are sent together.

    NotSimulated for all if the node has not answered by `until_s`, a time of the event loop's
    clock; None: no deadline.

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
    """Return the results by traces, which run in blocks beyond the reach of `eth_simulateV1`.

    None for each that the node cannot trace, or not by `until_s`. Never raises.
    """
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
