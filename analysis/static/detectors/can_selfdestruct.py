"""Detector: a SELFDESTRUCT is reachable."""

from collections.abc import Iterator

from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.token_model.contract_model import ContractModel


def _hits(code: ContractModel) -> Iterator[Evidence]:
    for note in code.notes.destructions.values():
        yield Evidence(entry=note.entry, pc=note.pc)


def _look(code: ContractModel) -> DetectorAnswer:
    return DetectorAnswer.of(_hits(code), code, instructions=["SELFDESTRUCT"], is_met=True)


DETECTOR = Detector(key="can_selfdestruct", look=_look)
