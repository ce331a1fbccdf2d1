"""Detector: some function is restricted to privileged callers."""

from collections.abc import Iterator

from analysis.static.dataflow.predicates import declared_slots
from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.access_control import caller_checks


def _hits(code: ContractModel) -> Iterator[Evidence]:
    for check in caller_checks(code):
        yield Evidence(
            entry=check.entry, pc=check.pc, slots=frozenset(declared_slots(check.variables))
        )


def _look(code: ContractModel) -> DetectorAnswer:
    return DetectorAnswer.of(_hits(code), code)


DETECTOR = Detector(key="has_owner_functionality", look=_look)
