"""The shape of a detector: one question about what a code can do, answered with proof."""

from collections.abc import Callable, Iterable

import msgspec

from analysis.code.facts import Code
from analysis.code.graph import Entry


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One place in the code that proves an answer. *Inferred*."""

    entry: Entry
    """Selector of the function that reaches it; None is the fallback."""
    pc: int
    slots: frozenset[int] = frozenset()
    """Storage slots it is about, as far as they are plain numbers."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a detector found."""

    value: bool | None
    """None: not known, for the reason given."""
    evidence: tuple[Evidence, ...] = ()
    reason: str | None = None
    """Why the answer is not known."""

    @staticmethod
    def of(
        hits: Iterable[Evidence],
        code: Code,
        *,
        functions: Iterable[Entry] | None = None,
        instructions: Iterable[str] = (),
    ) -> "Answer":
        """True with proof; False only where all that matters was followed; else not known.

        `functions`: those that matter; None is all. `instructions`: without any of these in the
        code there is nothing to find, followed or not.
        """
        evidence = tuple(dict.fromkeys(hits))
        if evidence:
            return Answer(value=True, evidence=evidence)
        if not code.answers_calls:
            return Answer(value=None, reason="the code answers no call")
        if code.delegation.is_proxy is not False and not code.answers_holders:
            return Answer(value=None, reason="the code that holders meet is elsewhere")
        if code.is_followed(functions) or (instructions and not code.has_any(instructions)):
            return Answer(value=False)
        return Answer(value=None, reason="some paths were not followed to their end")


class Detector(msgspec.Struct, frozen=True, kw_only=True):
    """One question, named after the API field it answers."""

    key: str
    version: int
    """Bumped when any answer may change; stored beside the answer."""
    true_when: str
    not_when: tuple[str, ...]
    look: Callable[[Code], Answer]
