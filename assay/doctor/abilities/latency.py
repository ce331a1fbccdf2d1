"""How long a round trip takes."""

from assay.doctor.check import Check, CheckFinding, Question, Steps, Subject, ok, result_of
from core.rpc.headers import LATEST

_ASKED = 12
_MOST_MEDIAN_S = 1.0
"""Three round trips of an analysis and their simulations fit into analysis.wait_s."""
_MOST_P95_S = 2.0


def _look(_: Subject) -> Steps:
    taken: list[float] = []
    for _round in range(_ASKED):
        answers = yield Question(requests=(LATEST,), sending="one message")
        result_of(answers[0], asked="latest block")
        taken += answers.elapsed_s
    taken.sort()
    median, p95 = taken[len(taken) // 2], taken[min(len(taken) - 1, len(taken) * 95 // 100)]
    seen = f"median {1000 * median:.0f} ms, p95 {1000 * p95:.0f} ms"
    if median > _MOST_MEDIAN_S or p95 > _MOST_P95_S:
        return [CheckFinding(status="degraded", seen=seen)]
    return [ok(seen)]


CHECK = Check(
    name="latency",
    group="limits",
    question="how long does a round trip take",
    look=_look,
    severity="degraded",
    costs="an analysis is three to four round trips: callers get pending trades first",
    mend="use a node nearer to the service, or raise analysis.wait_s",
)
