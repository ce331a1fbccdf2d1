"""The switch that stops transfers can be set."""

from collections.abc import Iterator
from itertools import chain

from analysis.code.facts import MOVERS, Code
from analysis.code.limits import pauses
from analysis.detector import Answer, Detector, Evidence


def _hits(code: Code) -> Iterator[Evidence]:
    for _, variables in pauses(code):
        # a gate that transfers themselves open counts, too
        for write in chain.from_iterable(map(code.writes_to, variables)):
            slots = frozenset(code.slots_of(variables))
            yield Evidence(entry=write.entry, pc=write.pc, slots=slots)


def _look(code: Code) -> Answer:
    functions = None if any(pauses(code)) else MOVERS
    return Answer.of(_hits(code), code, functions=functions)


DETECTOR = Detector(
    key="pause_status_can_be_modified",
    version=3,
    true_when="a function stores to a variable that a pause depends on",
    not_when=("it is written in the constructor only",),
    look=_look,
)
