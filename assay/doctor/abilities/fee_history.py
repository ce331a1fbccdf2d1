"""Whether recent priority fees can be read, which simulated trades pay."""

import msgspec

from analysis.simulation.fee_market import history_request
from assay.doctor.check import Check, CheckFinding, Steps, Subject, ask, ok, result_of


class _History(msgspec.Struct, rename="camel"):
    reward: list[list[str]] | None = None


def _look(_: Subject) -> Steps:
    answers = yield ask(history_request())
    history = msgspec.json.decode(result_of(answers[0], asked="eth_feeHistory"), type=_History)
    if not history.reward:
        return [CheckFinding(status="degraded", seen="eth_feeHistory: without rewards")]
    return [ok(f"fees of {len(history.reward)} blocks")]


CHECK = Check(
    name="fee history",
    group="simulation",
    question="are recent priority fees known",
    look=_look,
    severity="degraded",
    costs="simulated trades pay a typical tip instead of the chain's",
    mend="nothing urgent; use an endpoint with eth_feeHistory",
)
