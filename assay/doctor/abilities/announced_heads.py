"""Whether a WebSocket endpoint announces new heads."""

from assay.doctor.check import (
    Check,
    CheckFinding,
    HeadsQuestion,
    Steps,
    Subject,
    describe_answer,
    is_result,
    ok,
)
from core.rpc.headers import decode_header

_BLOCKS = 3
_LEAST_WAIT_S = 3.0
_MOST_WAIT_S = 30.0


def _look(subject: Subject) -> Steps:
    if not subject.can_announce:
        seen = "no WebSocket: heads are polled every indexer.poll_s"
        return [CheckFinding(status="skipped", seen=seen)]
    wait_s = min(max(_BLOCKS * subject.chain.block_time_s, _LEAST_WAIT_S), _MOST_WAIT_S)
    answers = yield HeadsQuestion(wait_s=wait_s)
    announced = answers[0]
    if not is_result(announced):
        seen = f"no head within {wait_s:.0f} s: {describe_answer(announced)}"
        return [CheckFinding(status="degraded", seen=seen)]
    header = decode_header(announced, asked="newHeads")
    if header is None or header.number < subject.head.number:
        return [CheckFinding(status="degraded", seen="an announced head is older than the newest")]
    return [ok(f"block {header.number} after {answers.elapsed_s[0]:.1f} s")]


CHECK = Check(
    name="announced heads",
    group="node",
    question="are new heads announced",
    look=_look,
    severity="degraded",
    costs="new blocks are seen by polling, up to indexer.poll_s later",
    mend="use a wss:// address of the same provider, or leave it at polling",
)
