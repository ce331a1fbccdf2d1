"""The tax, or the switch that turns it on, can be set."""

from collections.abc import Iterator

from analysis.code.facts import MOVERS, Code
from analysis.code.limits import is_modifiable
from analysis.code.movement import taxes
from analysis.detector import Answer, Detector, Evidence


def _hits(code: Code) -> Iterator[Evidence]:
    for tax in taxes(code):
        for entry, pc in is_modifiable(code, tax.rates):
            yield Evidence(entry=entry, pc=pc, slots=frozenset(code.slots_of(tax.rates)))


def _look(code: Code) -> Answer:
    functions = None if any(taxes(code)) else MOVERS
    return Answer.of(_hits(code), code, functions=functions, hangs_on_writers=True)


DETECTOR = Detector(
    key="tax_can_be_modified",
    version=4,
    true_when="a function stores to a rate of the tax",
    not_when=("lists of addresses without fee",),
    look=_look,
)
