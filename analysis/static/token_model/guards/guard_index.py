"""Guards of each function: conditions that revert or skip a transfer, without compiler checks."""

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from analysis.static.dataflow.compiler_checks import CompilerChecks
from analysis.static.dataflow.dependencies import Atoms, DependencyAnalysis
from analysis.static.dataflow.merged_choices import choosing_branches
from analysis.static.dataflow.panics import panics
from analysis.static.dataflow.predicates import Predicate
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.disassembly import Program
from analysis.static.evm.expressions import Expr, ExprPool
from analysis.static.evm.function_cfg import BranchCondition, RevertBranch, Site
from analysis.static.evm.function_cfgs import FunctionCfgs
from analysis.static.evm.held_reads import may_alias
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.guards.guard import Guard
from analysis.static.token_model.storage.token_storage import TokenStorage

_MOSTLY: Final = 3
"""Ratio of check uses to other uses above which every use of a shared branch counts as a check."""

_MOST_CONTEXT: Final = 50_000
"""Control dependences of all guards of one code. Real codes have a few thousand."""

_SELECTOR_LEAVES: Final = frozenset({"selector", "selector_high", "CALLDATASIZE", "CALLVALUE"})


class GuardIndex:
    """The guards of one contract, found function by function when first requested."""

    def __init__(
        self,
        program: Program,
        pool: ExprPool,
        functions: FunctionCfgs,
        dependencies: DependencyAnalysis,
        storage: TokenStorage,
        *,
        cut: set[FunctionId],
    ) -> None:
        """`cut`: functions that the budget ended before all paths were explored."""
        self._program = program
        self._functions = functions
        self._pool = pool
        self._dependencies = dependencies
        self._storage = storage
        self._cut = cut
        self._guards: dict[FunctionId, list[Guard]] = {}
        self._flags: dict[FunctionId, list[Guard]] = {}
        """Guards of which the condition shows nothing: a constant on all paths."""
        self._known_flags: dict[Expr, bool] = {}
        self._contexts: dict[tuple[FunctionId, Site], tuple[Predicate, ...]] = {}
        self._context_left = _MOST_CONTEXT
        self.checks = CompilerChecks(pool, dependencies)
        """Recogniser of conditions that a compiler or SafeMath adds."""

    def of(self, entry: FunctionId) -> list[Guard]:
        """Return the guards of a function."""
        if entry not in self._guards:
            found = list(self._find(entry))
            self._flags[entry] = [each for each in found if not self._atoms(each)]
            self._guards[entry] = [each for each in found if self._atoms(each)]
        return self._guards[entry]

    def of_moves(self) -> Iterator[Guard]:
        """Yield the guards of `transfer` and `transferFrom`. A function that the budget cut yields
        none, as unexplored paths may bypass them."""
        for entry in MOVERS:
            if entry not in self._cut:
                yield from self.of(entry)

    def flags_of_moves(self) -> Iterator[tuple[Guard, tuple[Predicate, ...]]]:
        """Yield those that test a flag, a constant on some paths, with the branches that choose
        it."""
        for entry in MOVERS:
            if entry not in self._cut:
                for guard in (*self.of(entry), *self._flags[entry]):
                    if self._tests_flag(guard):
                        yield guard, self._choices(guard)

    def decisions(self, entry: FunctionId) -> Iterator[BranchCondition]:
        """Yield the branches of which both sides can succeed."""
        flow = self._functions.cfg(entry)
        for branch in flow.branches():
            if branch.if_true in flow.can_succeed and branch.if_false in flow.can_succeed:
                yield BranchCondition(pc=branch.pc, condition=branch.condition, holds=True)

    def context_of(self, entry: FunctionId, test: BranchCondition) -> tuple[Predicate, ...]:
        """Return the control dependences of a test as predicates, without compiler checks.

        None of them once the contexts of the code exceed a bound: the function then counts as not
        followed.
        """
        key = (entry, (test.pc, test.condition))
        found = self._contexts.get(key)
        if found is None:
            found = self._contexts[key] = self._find_context(entry, key[1])
        return found

    def _find_context(self, entry: FunctionId, site: Site) -> tuple[Predicate, ...]:
        flow = self._functions.cfg(entry)
        literals = flow.control_dependencies(site) if self._context_left > 0 else []
        self._context_left -= len(literals)
        if self._context_left <= 0:
            self._cut.add(entry)
            self._functions.give_up(entry)
            return ()
        found = {(literal.condition, literal.holds): literal for literal in literals}
        return tuple(
            self._storage.predicates.read(literal, flow.entry)
            for literal in found.values()
            if not self.is_check(literal.pc, literal.condition)
        )

    def is_check(self, pc: int, condition: Expr) -> bool:
        """True if the branch is a compiler check."""
        return pc in self._check_pcs or self.checks.is_check(condition)

    @cached_property
    def _check_pcs(self) -> frozenset[int]:
        """Pcs of branches that are compiler checks; in a shared function, for all its callers."""
        found: Counter[int] = Counter()
        others: Counter[int] = Counter()
        tests = {
            (branch.pc, branch.condition)
            for entry in self._functions.entries
            for branch in self._functions.cfg(entry).branches()
        }
        for pc, condition in tests:
            if self.checks.is_check(condition):
                found[pc] += 1
            elif not self._dependencies.is_merged(condition):
                others[pc] += 1
        return frozenset(pc for pc in found if found[pc] > _MOSTLY * others[pc])

    def _find(self, entry: FunctionId) -> Iterator[Guard]:
        seen = set()
        for refusal in self._refusals(entry):
            test = refusal.test
            key = (test.pc, test.condition, test.holds)
            if key in seen:
                continue
            seen.add(key)
            if self.is_check(test.pc, test.condition) or self._is_about_call(test.condition):
                continue
            if self._is_decrement(refusal):
                continue
            reading = self._storage.predicates.read(test, entry)
            context = self.context_of(entry, test) if entry in MOVERS else ()
            is_impossible = any(each.literal.contradicts(test) for each in context)
            if not is_impossible or self._may_change(entry, test.condition):
                yield Guard(refusal=refusal, test=reading, context=context)

    def _may_change(self, entry: FunctionId, condition: Expr) -> bool:
        """True if a store of the function may change what a condition reads."""
        terms = self._dependencies.subexpressions(condition)
        if any(term.operation == "TLOAD" for term in terms):
            return True
        slots = [slot for slot, _ in self._dependencies.reads(condition)]
        return any(
            effect.kind == "SSTORE" and may_alias(self._pool, slot, effect.words[0])
            for _, effect in self._functions.cfg(entry).effects()
            for slot in slots
        )

    def _atoms(self, guard: Guard) -> Atoms:
        return self._dependencies.sources(guard.refusal.test.condition)

    def _tests_flag(self, guard: Guard) -> bool:
        test = guard.test
        terms = self._dependencies.subexpressions(test.literal.condition)
        return not (test.reads_storage or test.has_amount or test.balances_of) and any(
            self._is_flag(term) for term in terms if term.operation == "phi"
        )

    def _is_flag(self, phi: Expr) -> bool:
        """True if the phi is a constant on some paths."""
        known = self._known_flags.get(phi)
        if known is None:
            meanings = self._dependencies.phi_values(phi)
            known = self._known_flags[phi] = any(isinstance(each, int) for each in meanings)
        return known

    def _choices(self, guard: Guard) -> tuple[Predicate, ...]:
        flow = self._functions.cfg(guard.refusal.entry)
        condition = guard.refusal.test.condition
        literals = choosing_branches(flow, self._dependencies, [condition])
        return tuple(
            self._storage.predicates.read(literal, flow.entry)
            for literal in literals
            if not self.is_check(literal.pc, literal.condition)
        )

    def _refusals(self, entry: FunctionId) -> list[RevertBranch]:
        flow, storage = self._functions.cfg(entry), self._storage
        refusals = list(flow.revert_branches())
        if entry in MOVERS:
            refusals += flow.no_op_branches(storage.is_balance_store)
            refusals += flow.void_moves(storage.is_balance_store, storage.moves_balance)
        return refusals

    def _is_decrement(self, refusal: RevertBranch) -> bool:
        """True if a value must not be zero because one is subtracted from it (else it panics)."""
        test = refusal.test
        is_lowered = not test.holds and self.checks.is_lowered(test.condition)
        return is_lowered and refusal.at is not None and panics(self._program, refusal.at)

    def _is_about_call(self, condition: Expr) -> bool:
        """True if only the form of the call decides: selector, calldata size, call value."""
        atoms = self._dependencies.sources(condition)
        return bool(atoms) and all(atom.operation in _SELECTOR_LEAVES for atom in atoms)
