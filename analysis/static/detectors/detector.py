"""Detector interface: a property of the code, decided from the contract model with evidence.

Answers are True with evidence, False only if all relevant paths were explored, and None otherwise.
"""

from collections.abc import Callable, Iterable

import msgspec

from analysis.static.evm.cfg import FunctionId
from analysis.static.token_model.contract_model import ContractModel


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One program point that proves an answer. *Inferred*."""

    entry: FunctionId
    """Selector of the function that reaches it; None is the fallback."""
    pc: int
    slots: frozenset[int] = frozenset()
    """Storage slots concerned, as far as they are plain numbers."""


class DetectorAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of one detector with its evidence."""

    value: bool | None
    """None: not known, for the reason given."""
    evidence: tuple[Evidence, ...] = ()
    reason: str | None = None
    """Why the value is None."""

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
        """Return True with evidence; False if all relevant paths were explored; else None.

        `functions`: the relevant ones; None is all. `instructions`: if the code has none of these,
        the answer is False even if paths were not explored. `hangs_on_writers`: the answer depends
        on the writers of a variable, so a function cut by the budget may change it. `is_met`:
        reaching the instruction is the proof; other evidence counts only in a function that the
        budget did not cut.
        """
        evidence = tuple(dict.fromkeys(hits))
        if any(is_met or each.entry not in code.notes.cut for each in evidence):
            return DetectorAnswer(value=True, evidence=evidence)
        if not code.answers_calls:
            return DetectorAnswer(value=None, reason="the code answers no call")
        if code.delegation.is_proxy is not False and not code.answers_holders:
            return DetectorAnswer(value=None, reason="the code that holders meet is elsewhere")
        is_cut = bool(evidence) or (hangs_on_writers and bool(code.notes.cut))
        is_followed = code.functions.is_followed(functions) and not is_cut
        if is_followed or (instructions and not code.has_any(instructions)):
            return DetectorAnswer(value=False)
        return DetectorAnswer(
            value=None, evidence=evidence, reason="some paths were not followed to their end"
        )

    @staticmethod
    def of_all(hits: Iterable[Evidence], code: ContractModel) -> "DetectorAnswer":
        """Return the answer for a list of functions.

        None if there are hits but the budget cut any function, since that may be one as well.
        """
        answer = DetectorAnswer.of(hits, code)
        if answer.value and code.notes.cut:
            reason = "some paths were not followed to their end"
            return DetectorAnswer(value=None, evidence=answer.evidence, reason=reason)
        return answer


class Detector(msgspec.Struct, frozen=True, kw_only=True):
    """A detector, named after the field of `core.report.fields` that it answers."""

    key: str
    look: Callable[[ContractModel], DetectorAnswer]
