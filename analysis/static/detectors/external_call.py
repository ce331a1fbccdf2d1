"""Detector: a call goes to a target that is no constant, or its returned data is used."""

from collections.abc import Iterator

from analysis.static.dataflow.delegate_targets import is_precompile
from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.evm.expressions import Expr, address_in
from analysis.static.token_model.contract_model import ContractModel

_CALLS = ("CALL", "STATICCALL", "DELEGATECALL", "CALLCODE")


def _hits(code: ContractModel) -> Iterator[Evidence]:
    for entry, effect in code.calls():
        target = address_in(code.dependencies.single_value(effect.words[0]))
        if isinstance(target, int) and is_precompile(target):
            continue
        is_known = isinstance(target, int) or (
            isinstance(target, Expr) and target.operation == "ADDRESS"
        )
        if not is_known or target in code.notes.answers_used:
            yield Evidence(entry=entry, pc=effect.pc)


def _look(code: ContractModel) -> DetectorAnswer:
    return DetectorAnswer.of(_hits(code), code, instructions=_CALLS, is_met=True)


DETECTOR = Detector(key="external_call", look=_look)
