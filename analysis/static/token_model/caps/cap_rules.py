"""Cap rules: the branches of transfers, in order, on the paths to a cap's revert.

The static analysis derives them once per code (`cap_extraction`); `analysis.token.cap_evaluation`
evaluates them on current storage.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from analysis.static.evm.expressions import FOLDED, MASK
from core.evm.primitives import Hash32

REFUSED = -1
"""Pseudo-choice at the end of a path: the cap reverts the transfer."""


class ComputationStep(msgspec.Struct, frozen=True, array_like=True):
    """One step of a computation, over the results of earlier steps."""

    operation: str
    """An EVM instruction over `arguments`, or `number`, `slot` (both: of `word`), `amount` (to be
    moved), `time`, `block` (the contract's clock), `phi` (one of `arguments`), `unknown`."""
    arguments: tuple[int, ...] = ()
    word: Hash32 | None = None


def slots_in(steps: Iterable[ComputationStep]) -> Iterator[Hash32]:
    """Yield the storage slots that a computation reads, each as often as it does."""
    return (step.word for step in steps if step.operation == "slot" and step.word is not None)


def constant(steps: Sequence[ComputationStep], at: int, words: Mapping[Hash32, int]) -> int | None:
    """Return a step's value if code and storage determine it, else None."""
    step = steps[at]
    if step.operation == "number" and step.word is not None:
        return int(step.word, 16)
    if step.operation == "slot" and step.word is not None:
        return words.get(step.word)
    fold = FOLDED.get(step.operation)
    if fold is None or not step.arguments:
        return None
    given = [constant(steps, argument, words) for argument in step.arguments]
    known = [value for value in given if value is not None]
    return fold(*known) & MASK if len(known) == len(given) else None


class TransferBranch(msgspec.Struct, frozen=True, array_like=True):
    """A branch of a transfer. Each side lists the next choices by number, or REFUSED."""

    condition: int
    """Index of the step whose result decides."""
    if_true: tuple[int, ...]
    """Next choices after a non-zero result."""
    if_false: tuple[int, ...]


class CapRule(msgspec.Struct, frozen=True, kw_only=True):
    """All paths of transfers to a revert by one kind of cap. *Inferred.*

    Paths that revert for another reason are left out: a paused token is still capped.
    """

    steps: tuple[ComputationStep, ...]
    choices: tuple[TransferBranch, ...]
    starts: tuple[int, ...]
    constant: Hash32 | None
    """The largest cap that is a constant in the code. None: all are in storage."""

    @property
    def slots(self) -> tuple[Hash32, ...]:
        """Every storage slot that the rule depends on."""
        return tuple(dict.fromkeys(slots_in(self.steps)))


class CapRules(msgspec.Struct, frozen=True, kw_only=True):
    """Cap rules of one code. None: no such cap, or one too complex to extract."""

    trading: CapRule | None = None
    position: CapRule | None = None
