"""Detector: an address must wait after its own last transfer (cooldown)."""

from collections.abc import Iterator

from analysis.static.dataflow.predicates import declared_slots
from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.clock.cooldowns import cooldowns
from analysis.static.token_model.contract_model import ContractModel


def _hits(code: ContractModel) -> Iterator[Evidence]:
    for guard, variables in cooldowns(code):
        yield Evidence(
            entry=guard.refusal.entry, pc=guard.pc, slots=frozenset(declared_slots(variables))
        )


def _look(code: ContractModel) -> DetectorAnswer:
    return DetectorAnswer.of(_hits(code), code, functions=MOVERS, hangs_on_writers=True)


DETECTOR = Detector(key="trading_cooldown", look=_look)
