"""Has plays played by the best means that a chain's nodes have.

eth_simulateV1 first. Where a node does not know it, traced calls, one a transaction, whose changes
are carried along; a contract cannot tell the two apart. What a node can do is remembered.
"""

from collections.abc import Sequence

from analysis import trace_stage
from analysis.node import Node, RpcAnswer
from analysis.powers import Powers
from analysis.stage import NotRun, Play, Played, read_play
from config.jsonrpc import RpcFault

_METHOD_NOT_FOUND = -32601
_UNKNOWN_WORDS = ("not found", "not exist", "not available", "not supported", "unsupported")


async def perform(node: Node, powers: Powers, plays: Sequence[Play]) -> list[Played | NotRun]:
    """What came of each play; independent of each other. Raises UpstreamError."""
    results: dict[int, Played | NotRun] = {}
    if plays and powers.simulation.is_worth_trying:
        answers = await node.batch([play.request() for play in plays])
        for index, (play, answer) in enumerate(zip(plays, answers, strict=True)):
            results[index] = read_play(play, answer)
        unknown = [index for index, answer in enumerate(answers) if _is_unknown(answer)]
        if unknown:
            powers.simulation.note_refusal()
    else:
        unknown = list(range(len(plays)))
    if unknown and await trace_stage.is_possible(node, powers.traces, plays[0].pin):
        traced = await trace_stage.perform(node, [plays[index] for index in unknown])
        results.update(zip(unknown, traced, strict=True))
    missing = NotRun(
        missing="NODE", reason="the node knows neither eth_simulateV1 nor traced calls"
    )
    return [results.get(index, missing) for index in range(len(plays))]


def _is_unknown(answer: RpcAnswer) -> bool:
    """Whether the node does not know the method; it then says so in one of several ways."""
    if not isinstance(answer, RpcFault):
        return False
    words = answer.message.lower()
    return answer.code == _METHOD_NOT_FOUND or (
        "method" in words and any(unknown in words for unknown in _UNKNOWN_WORDS)
    )
