"""A transfer can credit less than it debits."""

from collections.abc import Iterator

from analysis.code.facts import MOVERS, Code
from analysis.code.movement import taxes
from analysis.detector import Answer, Detector, Evidence


def _hits(code: Code) -> Iterator[Evidence]:
    for tax in taxes(code):
        yield Evidence(
            entry=tax.write.entry, pc=tax.write.pc, slots=frozenset(code.slots_of(tax.rates))
        )


def _look(code: Code) -> Answer:
    return Answer.of(_hits(code), code, functions=MOVERS)


DETECTOR = Detector(
    key="has_tax_functionality",
    version=2,
    true_when="the recipient is credited something else than the sender is debited",
    not_when=("functions that burn on request",),
    look=_look,
)
