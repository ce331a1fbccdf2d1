"""Detector: a function can set the position cap, or the switch that turns it off."""

from collections.abc import Iterator

from analysis.static.dataflow.predicates import declared_slots
from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.transfer_guards import is_modifiable, position_caps


def _hits(code: ContractModel) -> Iterator[Evidence]:
    for cap in position_caps(code):
        variables = cap.limits | cap.switches
        for entry, pc in (
            *is_modifiable(code, cap.switches),
            *is_modifiable(code, cap.limits, by_transfers=True),
        ):
            yield Evidence(entry=entry, pc=pc, slots=frozenset(declared_slots(variables)))


def _look(code: ContractModel) -> DetectorAnswer:
    functions = None if any(position_caps(code)) else MOVERS
    return DetectorAnswer.of(_hits(code), code, functions=functions, hangs_on_writers=True)


DETECTOR = Detector(key="position_cap_can_be_modified", look=_look)
