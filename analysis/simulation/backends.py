"""Has plays played by the best means that a chain's nodes have.

eth_simulateV1 first. Where a node does not know it, traced calls, one a transaction, whose changes
are carried along; a contract cannot tell the two apart. Else one eth_call a play, through probe
contracts, of which not every token is to be believed. What a node can do is remembered.
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
from config.jsonrpc import RpcAnswer, RpcFault

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
    """What came of each play; independent of each other.

    `codes`: the token's own, then that behind it if it is a proxy; what plays in one eth_call are
    worth depends on it. Raises UpstreamError.
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
    """A node that refuses a play which it was to check is asked again without the checks."""
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
    """Whether the node does not know the method; it then says so in one of several ways."""
    if not isinstance(answer, RpcFault):
        return False
    words = answer.message.lower()
    return answer.code == _METHOD_NOT_FOUND or (
        "method" in words and any(unknown in words for unknown in _UNKNOWN_WORDS)
    )
