"""Detector: lists the functions that can write the mapping behind `allowance`."""

from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.token_model.contract_model import ContractModel


def _look(code: ContractModel) -> DetectorAnswer:
    writers = code.storage.allowances
    hits = (
        Evidence(entry=note.entry, pc=note.pc, slots=frozenset(writers.roots))
        for note in writers.notes
    )
    return DetectorAnswer.of_all(hits, code)


DETECTOR = Detector(key="allowance_update_function", look=_look)
