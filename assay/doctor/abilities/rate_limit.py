"""Whether a burst as of one analysis is answered, and how a refusal of its rate looks."""

from assay.doctor.check import (
    Check,
    CheckFinding,
    ProbeAnswer,
    ProbeFailure,
    Question,
    Steps,
    Subject,
    ok,
)
from core.rpc.messages import RpcFault, RpcRequest
from core.rpc.wire import is_passing

_BURST = 40
"""About the calls of one analysis."""


def _look(_: Subject) -> Steps:
    answers = yield Question(requests=(RpcRequest("eth_blockNumber"),) * _BURST, sending="at once")
    refused = [one for one in answers.all if _is_rate(one)]
    silent = [one for one in answers.all if isinstance(one, ProbeFailure) and one.kind != "rate"]
    if silent:
        seen = f"{len(silent)} of {_BURST} requests at once failed: {silent[0].reason}"
        return [CheckFinding(status="degraded", seen=seen)]
    if not refused:
        return [ok(f"{_BURST} requests at once within {max(answers.elapsed_s):.2f} s")]
    waits = [one.retry_after_s for one in refused if isinstance(one, ProbeFailure)]
    told = [wait for wait in waits if wait is not None]
    after = f"Retry-After up to {max(told):g} s" if told else "without Retry-After"
    seen = f"{len(refused)} of {_BURST} requests at once are refused, {after}"
    return [CheckFinding(status="degraded", seen=seen)]


def _is_rate(answer: ProbeAnswer) -> bool:
    if isinstance(answer, ProbeFailure):
        return answer.kind == "rate"
    return isinstance(answer, RpcFault) and is_passing(answer)


CHECK = Check(
    name="rate limit",
    group="limits",
    question="is a burst of one analysis answered",
    look=_look,
    severity="degraded",
    costs="analyses wait and are tried again; beyond analysis.wait_s their trades are pending",
    mend="add endpoints, lower analysis.concurrency and analysis.background_requests_per_hour",
)
