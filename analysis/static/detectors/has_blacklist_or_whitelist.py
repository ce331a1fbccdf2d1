"""Detector: transfers depend on a list of addresses (blacklist or whitelist)."""

from collections.abc import Iterator

from analysis.static.dataflow.predicates import declared_slots
from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.caps.amount_factors import scalings
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.pauses_and_lists import lists


def _hits(code: ContractModel) -> Iterator[Evidence]:
    for guard, variables in lists(code):
        yield Evidence(
            entry=guard.refusal.entry, pc=guard.pc, slots=frozenset(declared_slots(variables))
        )
    for scaling in scalings(code):
        yield Evidence(
            entry=scaling.write.entry,
            pc=scaling.write.pc,
            slots=frozenset(declared_slots(scaling.variables)),
        )


def _look(code: ContractModel) -> DetectorAnswer:
    return DetectorAnswer.of(_hits(code), code, functions=MOVERS, hangs_on_writers=True)


DETECTOR = Detector(key="has_blacklist_or_whitelist", look=_look)
