"""Detector: a transfer can credit less than it debits."""

from collections.abc import Iterator

from analysis.static.dataflow.predicates import declared_slots
from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.storage.balance_changes import taxes


def _hits(code: ContractModel) -> Iterator[Evidence]:
    for tax in taxes(code):
        yield Evidence(
            entry=tax.write.entry, pc=tax.write.pc, slots=frozenset(declared_slots(tax.rates))
        )


def _look(code: ContractModel) -> DetectorAnswer:
    return DetectorAnswer.of(_hits(code), code, functions=MOVERS)


DETECTOR = Detector(key="has_tax_functionality", look=_look)
