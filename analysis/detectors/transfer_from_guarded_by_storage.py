"""`transferFrom` can be refused because of what is stored."""

from collections.abc import Iterator

from analysis.code.facts import TRANSFER_FROM, Code
from analysis.code.limits import storage_guards
from analysis.code.scaling import scalings
from analysis.detector import Answer, Detector, Evidence


def _hits(code: Code) -> Iterator[Evidence]:
    for guard in storage_guards(code, TRANSFER_FROM):
        variables = [each for reading in guard.all() for each in reading.globals]
        yield Evidence(
            entry=guard.refusal.entry, pc=guard.pc, slots=frozenset(code.slots_of(variables))
        )
    for scaling in scalings(code):
        if scaling.write.entry == TRANSFER_FROM:
            yield Evidence(
                entry=TRANSFER_FROM,
                pc=scaling.write.pc,
                slots=frozenset(code.slots_of(scaling.variables)),
            )


def _look(code: Code) -> Answer:
    return Answer.of(_hits(code), code, functions=(TRANSFER_FROM,))


DETECTOR = Detector(
    key="transfer_from_guarded_by_storage",
    version=3,
    true_when="a guard on the way depends on storage other than the funds to be moved",
    not_when=("only arithmetic and balance checks", "a condition that only chooses the tax"),
    look=_look,
)
