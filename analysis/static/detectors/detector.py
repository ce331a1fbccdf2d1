"""The shape of a detector: one question about what a code can do, answered with proof."""

from collections.abc import Callable, Iterable

import msgspec

from analysis.static.evm.cfg import FunctionId
from analysis.static.token_model.contract_model import ContractModel


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One place in the code that proves an answer. *Inferred*."""

    entry: FunctionId
    """Selector of the function that reaches it; None is the fallback."""
    pc: int
    slots: frozenset[int] = frozenset()
    """Storage slots it is about, as far as they are plain numbers."""


class DetectorAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a detector found."""

    value: bool | None
    """None: not known, for the reason given."""
    evidence: tuple[Evidence, ...] = ()
    reason: str | None = None
    """Why the answer is not known."""

    @staticmethod
    def of(
        hits: Iterable[Evidence],
        code: ContractModel,
        *,
        functions: Iterable[FunctionId] | None = None,
        instructions: Iterable[str] = (),
        hangs_on_writers: bool = False,
        is_met: bool = False,
    ) -> "DetectorAnswer":
        """True with proof; False only where all that matters was followed; else not known.

        `functions`: those that matter; None is all. `instructions`: without any of these in the
        code there is nothing to find, followed or not. `hangs_on_writers`: who stores what decides,
        so that a function that was cut may settle it. `is_met`: the instruction itself is the
        proof; any other one counts only in a function that the budget did not cut.
        """
        evidence = tuple(dict.fromkeys(hits))
        if any(is_met or each.entry not in code.notes.cut for each in evidence):
            return DetectorAnswer(value=True, evidence=evidence)
        if not code.answers_calls:
            return DetectorAnswer(value=None, reason="the code answers no call")
        if code.delegation.is_proxy is not False and not code.answers_holders:
            return DetectorAnswer(value=None, reason="the code that holders meet is elsewhere")
        is_cut = bool(evidence) or (hangs_on_writers and bool(code.notes.cut))
        is_followed = code.is_followed(functions) and not is_cut
        if is_followed or (instructions and not code.has_any(instructions)):
            return DetectorAnswer(value=False)
        return DetectorAnswer(
            value=None, evidence=evidence, reason="some paths were not followed to their end"
        )

    @staticmethod
    def of_all(hits: Iterable[Evidence], code: ContractModel) -> "DetectorAnswer":
        """For a list of functions: not known where the budget cut a function, which may be one."""
        answer = DetectorAnswer.of(hits, code)
        if answer.value and code.notes.cut:
            reason = "some paths were not followed to their end"
            return DetectorAnswer(value=None, evidence=answer.evidence, reason=reason)
        return answer


class Detector(msgspec.Struct, frozen=True, kw_only=True):
    """One question, named after the API field it answers."""

    key: str
    version: int
    """Bumped when any answer may change; stored beside the answer."""
    true_when: str
    not_when: tuple[str, ...]
    look: Callable[[ContractModel], DetectorAnswer]
