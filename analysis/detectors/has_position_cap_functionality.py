"""A transfer can be refused because the recipient would hold too much."""

from collections.abc import Iterator

from analysis.code.facts import MOVERS, Code
from analysis.code.limits import position_caps
from analysis.detector import Answer, Detector, Evidence


def _hits(code: Code) -> Iterator[Evidence]:
    for cap in position_caps(code):
        yield Evidence(
            entry=cap.guard.refusal.entry,
            pc=cap.guard.pc,
            slots=frozenset(code.slots_of(cap.limits | cap.switches)),
        )


def _look(code: Code) -> Answer:
    return Answer.of(_hits(code), code, functions=MOVERS)


DETECTOR = Detector(
    key="has_position_cap_functionality",
    version=4,
    true_when="a guard fails when the recipient's balance exceeds a stored value or constant",
    not_when=("a cap on amounts",),
    look=_look,
)
