"""Guard: a branch of a function with a side that reverts, read as a predicate."""

import msgspec

from analysis.static.dataflow.predicates import Predicate
from analysis.static.evm.function_cfg import RevertBranch


class Guard(msgspec.Struct, frozen=True, kw_only=True):
    """A revert branch, with the predicates that decide on it."""

    refusal: RevertBranch
    test: Predicate
    context: tuple[Predicate, ...]
    """Control dependences of the test; empty for functions other than transfers."""

    @property
    def pc(self) -> int:
        """Program counter of the branch."""
        return self.refusal.test.pc

    def all(self) -> tuple[Predicate, ...]:
        """Return the test and its context."""
        return (self.test, *self.context)
