"""Whether the head is new, by this machine's clock, and the two clocks agree."""

from assay.doctor.check import Check, CheckFinding, Steps, Subject, ask, ok, result_of
from core.rpc.headers import LATEST, Header, decode_header

_LEAST_AGE_S = 60.0
_MOST_BLOCKS = 20
"""Age in block times from which on a head is old, where that is more than a minute."""
_AHEAD_S = 15.0
"""How far in the future a block may be: proposers' clocks differ. Source: go-ethereum,
allowedFutureBlockTime."""
_MOST_WAIT_S = 2.0


def _look(subject: Subject) -> Steps:
    head, block_s = subject.head, subject.chain.block_time_s
    age_s = subject.now_s() - head.ref.time_s
    shown = f"block {head.number} is {max(0.0, age_s):.0f} s old"
    if age_s < -_AHEAD_S:
        seen = f"block {head.number} is {-age_s:.0f} s in the future: the clocks differ"
        return [CheckFinding(status="failed", seen=seen)]
    if age_s <= max(_LEAST_AGE_S, _MOST_BLOCKS * block_s):
        return [ok(shown)]
    wait_s = min(2 * block_s, _MOST_WAIT_S)
    question = ask(LATEST)
    answers = yield type(question)(requests=question.requests, after_s=wait_s)
    later = decode_header(result_of(answers[0], asked="latest block"), asked="latest block")
    return [_of_old(shown, head, later, wait_s)]


def _of_old(shown: str, head: Header, later: Header | None, wait_s: float) -> CheckFinding:
    if later is not None and later.number > head.number:
        seen = f"{shown}, yet new blocks arrive: it is catching up, or the clocks differ"
    else:
        seen = f"{shown}, and none followed within {wait_s:.0f} s: the head is stale"
    return CheckFinding(status="failed", seen=seen)


CHECK = Check(
    name="head age",
    group="node",
    question="is the head new, and do the clocks agree",
    look=_look,
    costs="reports describe an old block; deadlines in contracts are judged at a wrong time",
    mend="let the node catch up, or set the clock of the node or of this machine by NTP",
)
