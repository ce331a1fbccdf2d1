"""Detector: `transfer` can revert depending on storage."""

from analysis.static.detectors.detector import Detector, DetectorAnswer
from analysis.static.detectors.storage_guards import find_storage_guards
from analysis.static.evm.path_state import TRANSFER
from analysis.static.token_model.contract_model import ContractModel


def _look(code: ContractModel) -> DetectorAnswer:
    return DetectorAnswer.of(find_storage_guards(code, TRANSFER), code, functions=(TRANSFER,))


DETECTOR = Detector(key="transfer_guarded_by_storage", look=_look)
