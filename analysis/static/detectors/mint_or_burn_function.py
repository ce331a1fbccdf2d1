"""Detector: some function can change the total supply."""

from collections.abc import Iterator

from analysis.static.dataflow.predicates import declared_slots
from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.initializers import is_initializer
from analysis.static.token_model.storage.balance_changes import lasting_changes


def _hits(code: ContractModel) -> Iterator[Evidence]:
    if code.storage.roles.is_supply_own_coins:
        for entry, effect in code.calls():
            yield Evidence(entry=entry, pc=effect.pc)
    for variable in code.storage.roles.supply:
        slots = frozenset(declared_slots([variable]))
        changes = list(lasting_changes(code, variable))
        entries = {write.entry for write in changes}
        once = {entry for entry in entries if is_initializer(code, entry)}
        for write in changes:
            if write.entry not in once:
                yield Evidence(entry=write.entry, pc=write.pc, slots=slots)


def _look(code: ContractModel) -> DetectorAnswer:
    return DetectorAnswer.of(_hits(code), code)


DETECTOR = Detector(key="mint_or_burn_function", look=_look)
