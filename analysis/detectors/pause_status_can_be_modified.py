"""The switch that stops transfers can be set."""

from collections.abc import Iterator

from analysis.code.facts import MOVERS, Code
from analysis.code.gates import pauses
from analysis.code.limits import is_modifiable
from analysis.detector import Answer, Detector, Evidence


def _hits(code: Code) -> Iterator[Evidence]:
    for _, variables in pauses(code):
        for entry, pc in is_modifiable(code, variables, by_transfers=True):
            yield Evidence(entry=entry, pc=pc, slots=frozenset(code.slots_of(variables)))


def _look(code: Code) -> Answer:
    functions = None if any(pauses(code)) else MOVERS
    return Answer.of(_hits(code), code, functions=functions, hangs_on_writers=True)


DETECTOR = Detector(
    key="pause_status_can_be_modified",
    version=4,
    true_when="a function stores to a variable that a pause depends on",
    not_when=("it is written in the constructor only",),
    look=_look,
)
