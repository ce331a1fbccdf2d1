"""Whether the endpoint has the methods that the product calls."""

from assay.doctor.check import (
    Check,
    CheckFinding,
    ProbeFailure,
    Steps,
    Subject,
    ask,
    describe_answer,
    ok,
)
from assay.doctor.rpc_methods import METHODS, example_requests
from core.rpc.messages import RpcFault


def _look(subject: Subject) -> Steps:
    requests = example_requests(subject)
    answers = yield ask(*requests.values())
    missing = {
        method: describe_answer(answer)
        for method, answer in zip(requests, answers.all, strict=True)
        if isinstance(answer, RpcFault | ProbeFailure)
    }
    findings = [
        CheckFinding(
            status="degraded" if method.is_optional else "failed",
            subject=method.name,
            seen=missing[method.name],
            costs=f"not available: {method.used_for}",
        )
        for method in METHODS
        if method.name in missing
    ]
    return findings or [ok(f"all {len(requests)} methods")]


CHECK = Check(
    name="methods",
    group="node",
    question="are all methods there",
    look=_look,
    costs="see each method",
    mend="open the eth namespace (and debug, without eth_simulateV1), or use another client",
)
