"""Detector: a stored switch can make transfers revert for everybody."""

from collections.abc import Iterator

from analysis.static.dataflow.predicates import declared_slots
from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.pauses_and_lists import pauses


def _hits(code: ContractModel) -> Iterator[Evidence]:
    for guard, variables in pauses(code):
        yield Evidence(
            entry=guard.refusal.entry, pc=guard.pc, slots=frozenset(declared_slots(variables))
        )


def _look(code: ContractModel) -> DetectorAnswer:
    return DetectorAnswer.of(_hits(code), code, functions=MOVERS, hangs_on_writers=True)


DETECTOR = Detector(key="has_pause_functionality", look=_look)
