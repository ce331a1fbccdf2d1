"""How many requests one message may hold."""

from assay.doctor.check import (
    Check,
    CheckFinding,
    ProbeAnswers,
    ProbeFailure,
    Question,
    Steps,
    Subject,
    describe_answer,
    ok,
)
from core.rpc.messages import RpcFault, RpcRequest

_SIZES = (2, 10, 30)


def _look(subject: Subject) -> Steps:
    most = subject.rpc.max_batch
    accepted = 1
    for size in (*(size for size in _SIZES if size < most), most):
        requests = tuple(
            RpcRequest("eth_getBlockByNumber", (hex(max(0, subject.head.number - at)), False))
            for at in range(size)
        )
        answers = yield Question(requests=requests, sending="one message")
        refusal = _refusal(answers)
        if refusal is not None:
            seen = f"{accepted} requests in one message; of {size}: {describe_answer(refusal)}"
            return [CheckFinding(status="degraded", seen=seen)]
        accepted = size
    return [ok(f"{accepted} requests in one message")]


def _refusal(answers: ProbeAnswers) -> ProbeFailure | RpcFault | None:
    return next((one for one in answers.all if isinstance(one, ProbeFailure | RpcFault)), None)


CHECK = Check(
    name="batches",
    group="limits",
    question="how many requests may one message hold",
    look=_look,
    severity="degraded",
    costs="nothing is lost: requests go in smaller messages, which takes longer",
    mend="set rpc.max_batch to what is accepted; most gateways count each request anyway",
)
