"""Addresses can be kept from transferring, or alone be let through."""

from collections.abc import Iterator

from analysis.code.facts import MOVERS, Code
from analysis.code.limits import lists
from analysis.detector import Answer, Detector, Evidence


def _hits(code: Code) -> Iterator[Evidence]:
    for guard, variables in lists(code):
        yield Evidence(
            entry=guard.refusal.entry, pc=guard.pc, slots=frozenset(code.slots_of(variables))
        )


def _look(code: Code) -> Answer:
    return Answer.of(_hits(code), code, functions=MOVERS)


DETECTOR = Detector(
    key="has_blacklist_or_whitelist",
    version=3,
    true_when="a guard of transfers depends on what is stored per address",
    not_when=("a mapping that only switches the fee or a cap off",),
    look=_look,
)
