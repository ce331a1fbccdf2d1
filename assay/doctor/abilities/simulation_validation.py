"""Whether eth_simulateV1 checks fees where it is asked to, and only there."""

from assay.doctor.check import Check, CheckFinding, Steps, Subject, ask, ok
from assay.doctor.simulation_probe import UNSUPPORTED, build, is_unsupported, read, with_low_fees
from core.rpc.messages import RpcFault


def _look(subject: Subject) -> Steps:
    if subject.head.base_fee_wei is None:
        return [ok("the chain has no base fee to be checked")]
    free, checked = (build(subject, is_validated=is_validated) for is_validated in (False, True))
    answers = yield ask(free.request, checked.request, with_low_fees(checked))
    if is_unsupported(answers[0]):
        return [UNSUPPORTED]
    read(free, answers[0])
    read(checked, answers[1])
    if not isinstance(answers[2], RpcFault):
        seen = "a transaction may pay less than the base fee although validation is on"
        return [CheckFinding(status="degraded", seen=seen)]
    return [ok("fees are checked where validation is on")]


CHECK = Check(
    name="simulation validation",
    group="simulation",
    question="does validation check fees",
    look=_look,
    severity="degraded",
    costs="trades that a real block would refuse count as possible; the base fee may be lost",
    mend="use another client, or a newer release of it",
)
