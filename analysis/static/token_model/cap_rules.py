"""A cap as the code enforces it: what transfers decide, in order, on the way to being refused.

The static analysis writes it down once per code; together with the current storage it tells
whether the cap is in force (analysis/caps).
"""

import msgspec

from config.primitives import Hash32

REFUSED = -1
"""Where a way ends with the cap refusing the transfer."""


class ComputationStep(msgspec.Struct, frozen=True, array_like=True):
    """One step of a computation, over the results of steps before it."""

    operation: str
    """An EVM instruction over `arguments`, or `number`, `slot` (both: of `word`), `amount` (to be
    moved), `time`, `block` (the contract's clock), `either` (one of `arguments`), `unknown`."""
    arguments: tuple[int, ...] = ()
    word: Hash32 | None = None


class Choice(msgspec.Struct, frozen=True, array_like=True):
    """A branch of a transfer: where it may go on, by the number of a choice, or REFUSED."""

    condition: int
    """The step whose result decides."""
    if_true: tuple[int, ...]
    """Where a result that is not zero may lead."""
    if_false: tuple[int, ...]


class CapRule(msgspec.Struct, frozen=True, kw_only=True):
    """All ways of transfers to a refusal by one kind of cap. *Inferred.*

    Ways that fail for another reason are left out: a token that is paused is still capped.
    """

    steps: tuple[ComputationStep, ...]
    choices: tuple[Choice, ...]
    starts: tuple[int, ...]
    constant: Hash32 | None
    """The largest cap that is written in the code. None: all are in storage."""

    @property
    def slots(self) -> tuple[Hash32, ...]:
        """Every storage slot that it depends on."""
        named = (step.word for step in self.steps if step.operation == "slot")
        return tuple(dict.fromkeys(word for word in named if word is not None))


class CapRules(msgspec.Struct, frozen=True, kw_only=True):
    """Of one code. None: it has no such cap, or one that is too entangled to be written down."""

    trading: CapRule | None = None
    position: CapRule | None = None
