"""Whether eth_simulateV1 runs transactions in several blocks, with their state carried along."""

from assay.doctor.check import Check, CheckFinding, Steps, Subject, ask, ok
from assay.doctor.simulation_probe import READ, STORED, WRITE, build, read, stored_word, words


def _look(subject: Subject) -> Steps:
    simulation = build(subject, is_validated=False)
    answers = yield ask(simulation.request)
    result = read(simulation, answers[0])
    wanted = stored_word(subject.head)
    if words(result, WRITE)[STORED] != wanted:
        return [
            CheckFinding(status="failed", seen="what a transaction stored is not there after it")
        ]
    if words(result, READ)[STORED] != wanted:
        return [CheckFinding(status="failed", seen="state is not carried from block to block")]
    if len(result[WRITE].logs) != 1:
        seen = f"{len(result[WRITE].logs)} logs of a transaction that emits one"
        return [CheckFinding(status="failed", seen=seen)]
    return [ok("two blocks; state and logs as they should be")]


CHECK = Check(
    name="simulation",
    group="simulation",
    question="does eth_simulateV1 run several blocks",
    look=_look,
    severity="degraded",
    costs="trades are simulated by debug_traceCall, call by call (several times the calls), or "
    "where that is missing too by eth_call: sales later, of the owner and thefts stay unknown",
    mend="use an endpoint with eth_simulateV1 (a recent release of the client), or open the "
    "debug namespace",
)
