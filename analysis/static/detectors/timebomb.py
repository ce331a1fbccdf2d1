"""Detector: block number or time is compared with a constant or a stored value."""

from collections.abc import Iterator

from analysis.static.dataflow.predicates import declared_slots
from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.token_model.clock.clock_comparisons import clock_comparisons
from analysis.static.token_model.contract_model import ContractModel


def _hits(code: ContractModel) -> Iterator[Evidence]:
    for comparison in clock_comparisons(code):
        yield Evidence(
            entry=comparison.entry,
            pc=comparison.pc,
            slots=frozenset(declared_slots(comparison.variables)),
        )


def _look(code: ContractModel) -> DetectorAnswer:
    return DetectorAnswer.of(_hits(code), code, instructions=["TIMESTAMP", "NUMBER"], is_met=True)


DETECTOR = Detector(key="timebomb", look=_look)
