"""Detector: the fallback delegates calls to an implementation."""

from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.token_model.contract_model import ContractModel


def _look(code: ContractModel) -> DetectorAnswer:
    found = code.delegation
    slots = frozenset(int(slot, 16) for slot in found.slots + found.beacon_slots)
    evidence = tuple(Evidence(entry=None, pc=pc, slots=slots) for pc in found.pcs)
    if found.is_proxy is None or not code.answers_calls:
        return DetectorAnswer(value=None, reason="the fallback was not followed to its end")
    return DetectorAnswer(value=found.is_proxy, evidence=evidence)


DETECTOR = Detector(key="is_proxy", look=_look)
