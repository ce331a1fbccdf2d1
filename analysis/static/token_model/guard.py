"""A guard: a branch of a function that reverts, read as a predicate."""

import msgspec

from analysis.static.dataflow.predicates import Predicate
from analysis.static.evm.function_cfg import RevertBranch


class Guard(msgspec.Struct, frozen=True, kw_only=True):
    """A refusal, with all that decides on it."""

    refusal: RevertBranch
    test: Predicate
    context: tuple[Predicate, ...]
    """What decides whether the test is met at all, on the way to it."""

    @property
    def pc(self) -> int:
        """Where it is decided."""
        return self.refusal.test.pc

    def all(self) -> tuple[Predicate, ...]:
        """The test and its context."""
        return (self.test, *self.context)
