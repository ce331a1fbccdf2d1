"""Whether debug_traceCall can stand in for eth_simulateV1."""

from analysis.simulation.trace_backend import is_proof, proof_requests
from assay.doctor.check import (
    Check,
    CheckFinding,
    NotHeldError,
    ProbeFailure,
    Steps,
    Subject,
    ask,
    describe_answer,
    is_result,
    ok,
)
from assay.doctor.simulation_probe import build, read
from core.rpc.messages import RpcAnswer


def _look(subject: Subject) -> Steps:
    simulation = build(subject, is_validated=False)
    answers = yield ask(*proof_requests(subject.head.ref), simulation.request)
    traces: list[RpcAnswer] = []
    for answer in answers.all[:-1]:
        if isinstance(answer, ProbeFailure):
            message = f"debug_traceCall: {answer.reason}"
            raise NotHeldError(message)
        traces.append(answer)
    if is_proof(traces):
        return [ok("overrides of state and block, both tracers")]
    seen = f"debug_traceCall: {describe_answer(traces[0])}"
    if is_result(traces[0]):
        seen += " without the overrides, or of another tracer"
    try:
        read(simulation, answers.all[-1])
    except NotHeldError:
        return [CheckFinding(status="degraded", seen=seen)]
    return [CheckFinding(status="skipped", seen=f"{seen}; not needed beside eth_simulateV1")]


CHECK = Check(
    name="call traces",
    group="simulation",
    question="can debug_traceCall stand in for eth_simulateV1",
    look=_look,
    severity="degraded",
    costs="with neither method trades are simulated by eth_call alone: sales later, of the owner "
    "and thefts stay unknown, and some tokens' trades",
    mend="open the debug namespace of a node of your own, or use one with eth_simulateV1",
)
