"""Whether simulated blocks keep the base fee that they are given, or silently have another."""

from assay.doctor.check import Check, CheckFinding, Steps, Subject, ask, ok
from assay.doctor.simulation_probe import (
    BASE_FEE,
    UNSUPPORTED,
    WRITE,
    build,
    given_block,
    is_unsupported,
    read,
    words,
)


def _look(subject: Subject) -> Steps:
    given = given_block(build(subject, is_validated=False), 0).base_fee_wei
    if given is None:
        return [ok("the chain has no base fee")]
    fees = []
    for is_validated in (False, True):
        simulation = build(subject, is_validated=is_validated)
        answers = yield ask(simulation.request)
        if is_unsupported(answers[0]):
            return [UNSUPPORTED]
        fees.append(words(read(simulation, answers[0]), WRITE)[BASE_FEE])
        if fees[-1] == given:
            break
    if fees == [given]:
        return [ok("kept")]
    if fees[-1] == given:
        seen = f"{fees[0]} instead of {given} wei unless the node also validates balances"
        return [CheckFinding(status="degraded", seen=seen, costs=_ONLY_VALIDATED, mend=_NOTHING)]
    return [CheckFinding(status="failed", seen=f"{fees[0]} instead of {given} wei: ignored")]


_ONLY_VALIDATED = "nothing: trades are simulated with validation, which keeps the fee"
_NOTHING = "nothing to do"

CHECK = Check(
    name="simulated base fee",
    group="simulation",
    question="do simulated blocks keep the base fee they are given",
    look=_look,
    severity="degraded",
    costs="a contract that compares gas price and base fee can tell a simulation from a trade, and "
    "behave well in it",
    mend="use another client, or a newer release of it",
)
