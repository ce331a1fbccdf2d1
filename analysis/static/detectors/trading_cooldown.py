"""Detector: an address must wait after its own last transfer (cooldown)."""

from collections.abc import Iterator

from analysis.static.detectors.detector import Detector, DetectorAnswer, Evidence
from analysis.static.token_model.contract_model import MOVERS, ContractModel
from analysis.static.token_model.cooldowns import cooldowns


def _hits(code: ContractModel) -> Iterator[Evidence]:
    for guard, variables in cooldowns(code):
        yield Evidence(
            entry=guard.refusal.entry, pc=guard.pc, slots=frozenset(code.slots_of(variables))
        )


def _look(code: ContractModel) -> DetectorAnswer:
    return DetectorAnswer.of(_hits(code), code, functions=MOVERS, hangs_on_writers=True)


DETECTOR = Detector(key="trading_cooldown", look=_look)
