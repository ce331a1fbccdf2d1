"""Detector: a transfer can revert because of its amount."""

from collections.abc import Iterator

from analysis.static.dataflow.predicates import declared_slots
from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.transfer_guards import trading_caps


def _hits(code: ContractModel) -> Iterator[Evidence]:
    for cap in trading_caps(code):
        yield Evidence(
            entry=cap.guard.refusal.entry,
            pc=cap.guard.pc,
            slots=frozenset(declared_slots(cap.limits | cap.switches)),
        )


def _look(code: ContractModel) -> DetectorAnswer:
    return DetectorAnswer.of(_hits(code), code, functions=MOVERS)


DETECTOR = Detector(key="has_trading_cap_functionality", look=_look)
