"""Detector: a function that should only read can write storage."""

from collections.abc import Iterator

from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.token_model.contract_model import ContractModel
from core.evm.abi import selector_of

_VIEWS = frozenset(
    int(selector_of(signature), 16)
    for signature in (
        "name()",
        "symbol()",
        "decimals()",
        "totalSupply()",
        "balanceOf(address)",
        "allowance(address,address)",
        "owner()",
        "getOwner()",
    )
)


def _hits(code: ContractModel) -> Iterator[Evidence]:
    for write in (*code.writes.all, *code.writes.inside):
        if write.entry in _VIEWS:
            yield Evidence(entry=write.entry, pc=write.pc)


def _look(code: ContractModel) -> DetectorAnswer:
    return DetectorAnswer.of(_hits(code), code, functions=_VIEWS, is_met=True)


DETECTOR = Detector(key="view_function_modifies_state", look=_look)
