"""Detector: a function can set the switch that pauses transfers."""

from collections.abc import Iterator

from analysis.static.dataflow.predicates import declared_slots
from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.pauses_and_lists import pauses
from analysis.static.token_model.guards.transfer_guards import is_modifiable


def _hits(code: ContractModel) -> Iterator[Evidence]:
    for _, variables in pauses(code):
        for entry, pc in is_modifiable(code, variables, by_transfers=True):
            yield Evidence(entry=entry, pc=pc, slots=frozenset(declared_slots(variables)))


def _look(code: ContractModel) -> DetectorAnswer:
    functions = None if any(pauses(code)) else MOVERS
    return DetectorAnswer.of(_hits(code), code, functions=functions, hangs_on_writers=True)


DETECTOR = Detector(key="pause_status_can_be_modified", look=_look)
