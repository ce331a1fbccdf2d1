"""Simulation backends: run simulations by the best method that a chain's nodes support.

eth_simulateV1 comes first. Where a node does not support it, debug_traceCall, one call per
transaction, with state changes carried along; contracts cannot distinguish the two. Else one
eth_call per simulation, through probe contracts, which is reliable for some tokens only. A node's
capabilities are remembered.
"""

from collections.abc import Sequence

import msgspec

from analysis.reads.node import Node
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.simulation import eth_call_backend, trace_backend
from analysis.simulation.eth_call_backend import SimulationJob
from analysis.simulation.simulate_v1 import (
    NotSimulated,
    Simulation,
    SimulationResult,
    read_simulation,
)
from core.rpc.messages import RpcAnswer, RpcFault

_METHOD_NOT_FOUND = -32601
_UNKNOWN_WORDS = (
    *("not found", "not exist", "not available"),
    *("not supported", "only supported", "unsupported", "not whitelisted", "is disabled"),
)
_NOT_IN_PLAN = "not included in your current plan"


async def perform(
    node: Node,
    capabilities: NodeCapabilities,
    jobs: Sequence[SimulationJob],
    *,
    codes: Sequence[bytes] = (),
) -> list[SimulationResult | NotSimulated]:
    """Return the result of each simulation; they are independent of each other.

    `codes`: the token's own code, then that behind it if it is a proxy; it decides whether results
    of eth_call can be trusted. Raises UpstreamError.
    """
    results: dict[int, SimulationResult | NotSimulated] = {}
    if jobs and capabilities.simulation.is_worth_trying:
        answers = await _simulate(node, [job.simulation for job in jobs])
        for index, (job, answer) in enumerate(zip(jobs, answers, strict=True)):
            if not is_unknown_method(answer):
                results[index] = read_simulation(job.simulation, answer)
        if len(results) < len(jobs):
            capabilities.simulation.note_refusal()
    rest = [index for index in range(len(jobs)) if index not in results]
    if rest:
        left = [jobs[index] for index in rest]
        results.update(
            zip(rest, await _perform_otherwise(node, capabilities, left, codes), strict=True)
        )
    return [results[index] for index in range(len(jobs))]


async def _simulate(node: Node, simulations: Sequence[Simulation]) -> list[RpcAnswer]:
    """Return the answers. A simulation that a node rejects with validation on is sent again without
    it."""
    answers = list(await node.batch([simulation.request for simulation in simulations]))
    again = [
        index
        for index, (simulation, answer) in enumerate(zip(simulations, answers, strict=True))
        if simulation.is_validated
        and isinstance(answer, RpcFault)
        and not is_unknown_method(answer)
    ]
    if again:
        plain = [msgspec.structs.replace(simulations[index], is_validated=False) for index in again]
        retried = await node.batch([simulation.request for simulation in plain])
        for index, answer in zip(again, retried, strict=True):
            answers[index] = answer
    return answers


async def _perform_otherwise(
    node: Node,
    capabilities: NodeCapabilities,
    jobs: Sequence[SimulationJob],
    codes: Sequence[bytes],
) -> list[SimulationResult | NotSimulated]:
    simulations = [job.simulation for job in jobs]
    if await trace_backend.is_possible(node, capabilities.traces, simulations[0].pin):
        return await trace_backend.perform(node, simulations)
    return await eth_call_backend.perform(node, jobs, codes)


def is_unknown_method(answer: RpcAnswer) -> bool:
    """True if the node does not know the method; error codes and messages for that differ."""
    if not isinstance(answer, RpcFault):
        return False
    words = answer.message.lower()
    is_of_method = "method" in words and any(unknown in words for unknown in _UNKNOWN_WORDS)
    return answer.code == _METHOD_NOT_FOUND or is_of_method or _NOT_IN_PLAN in words
