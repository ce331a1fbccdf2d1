"""Detector: a function can set the tax, or the switch that turns it on."""

from collections.abc import Iterator

from analysis.static.dataflow.predicates import declared_slots
from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.transfer_guards import is_modifiable
from analysis.static.token_model.storage.balance_changes import taxes


def _hits(code: ContractModel) -> Iterator[Evidence]:
    for tax in taxes(code):
        for entry, pc in is_modifiable(code, tax.rates):
            yield Evidence(entry=entry, pc=pc, slots=frozenset(declared_slots(tax.rates)))


def _look(code: ContractModel) -> DetectorAnswer:
    functions = None if any(taxes(code)) else MOVERS
    return DetectorAnswer.of(_hits(code), code, functions=functions, hangs_on_writers=True)


DETECTOR = Detector(key="tax_can_be_modified", look=_look)
