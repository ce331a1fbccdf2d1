"""Whether the depth that is configured as final is final for the node too."""

from assay.doctor.check import (
    Check,
    CheckFinding,
    Steps,
    Subject,
    ask,
    describe_answer,
    ok,
    result_of,
)
from core.rpc.headers import decode_header
from core.rpc.messages import RpcFault, RpcRequest


def _look(subject: Subject) -> Steps:
    answers = yield ask(RpcRequest("eth_getBlockByNumber", ("finalized", False)))
    asked = "finalized block"
    if isinstance(answers[0], RpcFault):
        seen = f"no finalized tag: {describe_answer(answers[0])}"
        return [CheckFinding(status="unknown", seen=seen)]
    final = decode_header(result_of(answers[0], asked=asked), asked=asked)
    head, depth = subject.head.number, subject.chain.finality_blocks
    if final is None:
        return [CheckFinding(status="unknown", seen="there is no finalized block")]
    if final.number > head:
        return [
            CheckFinding(status="failed", seen=f"block {final.number} is final, above the head")
        ]
    behind = head - final.number
    if behind > 2 * depth and depth < head:
        seen = f"the node's is {behind} blocks behind the head, finality_blocks is {depth}"
        return [CheckFinding(status="degraded", seen=seen)]
    return [ok(f"{behind} blocks behind the head; finality_blocks is {depth}")]


CHECK = Check(
    name="finality",
    group="node",
    question="is finality_blocks deep enough",
    look=_look,
    costs="a reorganisation below that depth could not be unwound: following would stop",
    mend="raise finality_blocks in the overlay's [chain]",
)
