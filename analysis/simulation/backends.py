"""Simulation backends: run simulations by the best method that a chain's nodes support.

eth_simulateV1 first. Where a node does not support it, debug_traceCall, one call per transaction,
with state changes carried along; a contract cannot tell the two apart. Else one eth_call per
simulation, through probe contracts, which is reliable for some tokens only. A node's capabilities
are remembered.
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
    *("not supported", "only supported", "unsupported"),
)


async def perform(
    node: Node,
    capabilities: NodeCapabilities,
    turns: Sequence[SimulationJob],
    *,
    codes: Sequence[bytes] = (),
) -> list[SimulationResult | NotSimulated]:
    """Return the result of each simulation; they are independent of each other.

    `codes`: the token's own code, then that behind it if it is a proxy; it decides whether results
    of eth_call can be trusted. Raises UpstreamError.
    """
    results: dict[int, SimulationResult | NotSimulated] = {}
    if turns and capabilities.simulation.is_worth_trying:
        answers = await _simulate(node, [turn.play for turn in turns])
        for index, (turn, answer) in enumerate(zip(turns, answers, strict=True)):
            if not _is_unknown(answer):
                results[index] = read_simulation(turn.play, answer)
        if len(results) < len(turns):
            capabilities.simulation.note_refusal()
    rest = [index for index in range(len(turns)) if index not in results]
    if rest:
        left = [turns[index] for index in rest]
        results.update(
            zip(rest, await _perform_otherwise(node, capabilities, left, codes), strict=True)
        )
    return [results[index] for index in range(len(turns))]


async def _simulate(node: Node, plays: Sequence[Simulation]) -> list[RpcAnswer]:
    """Return the answers. A simulation that a node rejects with validation on is sent again without
    it."""
    answers = list(await node.batch([play.request() for play in plays]))
    again = [
        index
        for index, (play, answer) in enumerate(zip(plays, answers, strict=True))
        if play.is_validated and isinstance(answer, RpcFault) and not _is_unknown(answer)
    ]
    if again:
        plain = [msgspec.structs.replace(plays[index], is_validated=False) for index in again]
        retried = await node.batch([play.request() for play in plain])
        for index, answer in zip(again, retried, strict=True):
            answers[index] = answer
    return answers


async def _perform_otherwise(
    node: Node,
    capabilities: NodeCapabilities,
    turns: Sequence[SimulationJob],
    codes: Sequence[bytes],
) -> list[SimulationResult | NotSimulated]:
    plays = [turn.play for turn in turns]
    if await trace_backend.is_possible(node, capabilities.traces, plays[0].pin):
        return await trace_backend.perform(node, plays)
    return await eth_call_backend.perform(node, turns, codes)


def _is_unknown(answer: RpcAnswer) -> bool:
    """True if the node does not know the method; error codes and messages for that differ."""
    if not isinstance(answer, RpcFault):
        return False
    words = answer.message.lower()
    return answer.code == _METHOD_NOT_FOUND or (
        "method" in words and any(unknown in words for unknown in _UNKNOWN_WORDS)
    )
