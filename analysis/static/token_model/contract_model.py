"""Contract model: storage roles, guards, stores and calls of one bytecode, derived from its CFG.

Input is the explored CFG of all functions; detectors query the model. Results are *inferred*: they
cover the explored paths, and `is_followed` is False for functions with a path that was not followed
to its end (budget, unknown jump, deep recursion).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final

import msgspec

from analysis.static.dataflow.compiler_checks import CompilerChecks
from analysis.static.dataflow.delegate_targets import Delegation
from analysis.static.dataflow.dependencies import (
    CALLERS,
    HASHES,
    DependencyAnalysis,
    is_own_address,
)
from analysis.static.dataflow.getter_storage_writers import Writers, writers_of
from analysis.static.dataflow.panics import panics
from analysis.static.dataflow.predicates import (
    ERC20_PARAMETERS,
    Predicate,
    PredicateAnalyser,
    StorageRoles,
    Variable,
)
from analysis.static.dataflow.storage_layout import (
    UNKNOWN,
    StorageLayout,
    StorageLocation,
    VariableId,
    written_bits,
)
from analysis.static.dataflow.storage_writes import StorageWrite, StorageWrites
from analysis.static.evm.cfg import CfgNode, Effect, FunctionId
from analysis.static.evm.disassembly import Program
from analysis.static.evm.exploration import Exploration
from analysis.static.evm.expressions import Expr, Value, address_in
from analysis.static.evm.function_cfg import BranchCondition, FunctionCfg, RevertBranch
from analysis.static.evm.opcodes import NUMBER
from analysis.static.evm.path_state import ALLOWANCE, APPROVE, BALANCE_OF, Note
from analysis.static.token_model.guard import Guard
from analysis.static.token_model.storage_roles import find_roles

TRANSFER: Final = 0xA9059CBB
TRANSFER_FROM: Final = 0x23B872DD
MOVERS: Final = (TRANSFER, TRANSFER_FROM)

_WRITING_CALLS: Final = frozenset({"CALL", "CALLCODE", "DELEGATECALL"})
_SELECTOR_SHIFT: Final = 224

_MOSTLY: Final = 3
"""Ratio of check uses to other uses above which every use of a shared branch counts as a check."""

_NAMING: Final = HASHES | {"AND", "OR", "MUL", "SHL"}
"""Operations whose result still identifies an address among their operands: they pack addresses."""

_SELECTOR_LEAVES: Final = frozenset({"selector", "selector_high", "CALLDATASIZE", "CALLVALUE"})


class ContractModel:
    """Model of one contract's explored code. Everything here is *inferred*."""

    def __init__(
        self,
        program: Program,
        exploration: Exploration,
        selectors: set[int],
        delegation: Delegation,
    ) -> None:
        self.program = program
        self.notes = exploration.notes
        self.pool = exploration.pool
        self.delegation = delegation
        self.selectors = selectors
        self.dependencies = DependencyAnalysis(self.pool)
        self.layout = StorageLayout(self.pool, self.dependencies)
        self._graph = exploration.graph
        self._flows: dict[FunctionId, FunctionCfg] = {}
        self._guards: dict[FunctionId, list[Guard]] = {}
        self.found: dict[object, tuple[Any, ...]] = {}
        """Results of cached searches, by search function (`memoize`)."""

    # --- functions ----------------------------------------------------------------------------

    @property
    def entries(self) -> list[FunctionId]:
        """Every function that was explored; None is the fallback."""
        return list(self._graph.roots)

    def roots(self, entry: FunctionId) -> list[CfgNode]:
        """Return the entry nodes of a function; empty if it was not explored."""
        return self._graph.roots.get(entry, [])

    def flow(self, entry: FunctionId) -> FunctionCfg:
        """Return the CFG of one function."""
        if entry not in self._flows:
            self._flows[entry] = FunctionCfg(self._graph, entry)
        return self._flows[entry]

    def is_followed(self, functions: Iterable[FunctionId] | None = None) -> bool:
        """True if every path of these functions was followed to its end. None: of all functions."""
        if functions is None:
            return not self.notes.unfinished
        return self.notes.unfinished.isdisjoint({None, *functions})

    def has_any(self, instructions: Iterable[str]) -> bool:
        """True if one of these instructions is in the code at all, reachable or not."""
        return not self.program.opcodes.isdisjoint(NUMBER[name] for name in instructions)

    @property
    def answers_calls(self) -> bool:
        """True if a call can do anything but fail. False behind a precompile's marker."""
        notes = self.notes
        return bool(notes.returns or notes.delegations or notes.destructions)

    @property
    def answers_holders(self) -> bool:
        """True if the code dispatches `transfer` and `balanceOf` itself. A delegating fallback does
        not count."""
        return self.selectors.issuperset((TRANSFER, BALANCE_OF))

    # --- storage ------------------------------------------------------------------------------

    @cached_property
    def balances(self) -> Writers:
        """Writers of the storage that `balanceOf` returns. Of several mappings only those to which
        `transfer` stores the amount, and stores to unknown slots; not what is added on top."""
        writers = self._writers_of(BALANCE_OF)
        moved = {write.place.root for write in self.writes if self._moves(write)}
        if not moved:
            return self._with_callers(writers)
        notes = (note for note in writers.notes if self._roots_of(note) & (moved | {UNKNOWN}))
        return self._with_callers(msgspec.structs.replace(writers, notes=tuple(notes)))

    def _may_change_balance(self, write: StorageWrite) -> bool:
        """True unless the store changes only other bits of a slot that a balance shares."""
        root = write.place.root
        return root not in self.roles.balances or self.roles.is_balance(root, write.bits)

    def _moves(self, write: StorageWrite) -> bool:
        return (
            write.entry == TRANSFER
            and write.place.root in self.roles.balances
            and self.predicates.has_amount(write.value, ERC20_PARAMETERS[TRANSFER])
        )

    def _roots_of(self, note: Note) -> frozenset[VariableId]:
        return frozenset(place.root for place in self.layout.of(note.words[0]))

    @cached_property
    def allowances(self) -> Writers:
        """Writers of the storage that `allowance` returns."""
        return self._with_callers(self._writers_of(ALLOWANCE))

    def _writers_of(self, getter: int) -> Writers:
        """Return the stores to a getter's storage, on paths that can succeed."""
        writers = writers_of(self.notes, getter, self.dependencies.subexpressions)
        alive = {
            (write.entry, write.pc)
            for write in self.writes
            if getter != BALANCE_OF or self._may_change_balance(write)
        }
        notes = tuple(note for note in writers.notes if (note.entry, note.pc) in alive)
        return msgspec.structs.replace(writers, notes=notes)

    def _with_callers(self, writers: Writers) -> Writers:
        """Add the functions that write by calling one of the writers on their own contract: the
        store is the called function's, the entry the caller's."""
        notes = [
            msgspec.structs.replace(note, entry=caller)
            for note in writers.notes
            for caller in self.callers_inside.get(note.entry, ())
        ]
        return msgspec.structs.replace(
            writers, notes=tuple(dict.fromkeys((*writers.notes, *notes)))
        )

    @cached_property
    def callers_inside(self) -> dict[FunctionId, set[FunctionId]]:
        """Callers of each function on their own contract (`this.f()`), transitively.

        Only calls with a constant selector; one taken from calldata is not known.
        """
        called = {entry: self._called_inside(entry) for entry in self.entries}
        found: dict[FunctionId, set[FunctionId]] = {}
        for entry in called:
            waiting = [entry]
            seen: set[FunctionId] = set()
            while waiting:
                fresh = called.get(waiting.pop(), set()) - seen
                seen |= fresh
                waiting.extend(fresh)
            for each in seen - {entry}:
                found.setdefault(each, set()).add(entry)
        return found

    def _called_inside(self, entry: FunctionId) -> set[FunctionId]:
        found: set[FunctionId] = set()
        for _, effect in self.flow(entry).effects():
            if effect.kind not in _WRITING_CALLS:
                continue
            target, head = (self.dependencies.single_value(word) for word in effect.words[:2])
            if isinstance(head, int) and is_own_address(target):
                found.add(head >> _SELECTOR_SHIFT)
        return found

    @cached_property
    def roles(self) -> StorageRoles:
        """Storage roles derived from what the getters return."""
        return find_roles(self.notes, self.layout, self.dependencies, approved=self._approved)

    def _approved(self) -> frozenset[VariableId]:
        """Return, for a token without `allowance`, the mappings that `approve` writes instead."""
        stores = (note for note in self.allowances.notes if note.entry == APPROVE)
        return frozenset(root for note in stores for root in self._roots_of(note))

    @cached_property
    def _stores(self) -> StorageWrites:
        effects = (
            (entry, effect) for entry in self.entries for _, effect in self.flow(entry).effects()
        )
        return StorageWrites(effects, self.layout)

    @property
    def writes(self) -> tuple[StorageWrite, ...]:
        """Every store on a path that can succeed."""
        return self._stores.all

    @cached_property
    def writes_inside(self) -> tuple[StorageWrite, ...]:
        """Stores of functions called on their own contract, attributed to the callers."""
        return tuple(
            msgspec.structs.replace(write, entry=caller)
            for write in self.writes
            for caller in self.callers_inside.get(write.entry, ())
        )

    def writes_to(self, variable: Variable) -> Iterator[StorageWrite]:
        """Yield the stores that may change this variable."""
        return self._stores.to(variable)

    def is_length(self, place: StorageLocation) -> bool:
        """True if the location holds the length of an array."""
        return self.checks.is_array(place.root)

    def written_only_by_key_owner(self, variable: Variable) -> bool:
        """True if the variable is written, and only by callers under their own key."""
        writes = list(self.writes_to(variable))
        return bool(writes) and all(map(self.is_callers_own, writes))

    def is_callers_own(self, write: StorageWrite) -> bool:
        """True if the store is under the caller's own key."""
        return any(self.names_caller(key) for key in write.place.keys)

    def names_caller(self, word: Value) -> bool:
        """True if the value is the caller, or a hash or packing of it with other values."""
        bare = address_in(self.dependencies.single_value(word))
        if not isinstance(bare, Expr):
            return False
        if bare.operation in _NAMING:
            return any(self.names_caller(part) for part in bare.arguments)
        return bare.operation in CALLERS

    def is_balance_store(self, effect: Effect) -> bool:
        """True if the effect is a store to a balance."""
        return effect.kind == "SSTORE" and any(
            place.root in self.roles.balances for place in self.layout.of(effect.words[0])
        )

    def moves_balance(self, effect: Effect) -> bool:
        """True if the effect may change a balance; storing the value already there does not."""
        if not self.is_balance_store(effect):
            return False
        slot, value = effect.words
        bits = written_bits(value, slot)
        return any(self.roles.is_balance(place.root, bits) for place in self.layout.of(slot))

    # --- guards -------------------------------------------------------------------------------

    @cached_property
    def checks(self) -> CompilerChecks:
        """Recogniser of conditions that a compiler or SafeMath adds."""
        return CompilerChecks(self.pool, self.dependencies)

    @cached_property
    def check_pcs(self) -> frozenset[int]:
        """Pcs of branches that are compiler checks; in a shared function, for all its callers."""
        found: Counter[int] = Counter()
        others: Counter[int] = Counter()
        tests = {
            (branch.pc, branch.condition)
            for entry in self.entries
            for branch in self.flow(entry).branches()
        }
        for pc, condition in tests:
            if self.checks.is_check(condition):
                found[pc] += 1
            elif not self.dependencies.is_merged(condition):
                others[pc] += 1
        return frozenset(pc for pc in found if found[pc] > _MOSTLY * others[pc])

    def _is_check(self, literal: BranchCondition) -> bool:
        return self.is_check(literal.pc, literal.condition)

    def is_check(self, pc: int, condition: Expr) -> bool:
        """True if the branch is a compiler check."""
        return pc in self.check_pcs or self.checks.is_check(condition)

    @cached_property
    def predicates(self) -> PredicateAnalyser:
        """Analyser that reads branch conditions as predicates."""
        return PredicateAnalyser(self.dependencies, self.layout, self.roles)

    def guards(self, entry: FunctionId) -> list[Guard]:
        """Return the guards of a function, without compiler checks."""
        if entry not in self._guards:
            self._guards[entry] = list(self._find_guards(entry))
        return self._guards[entry]

    def move_guards(self) -> Iterator[Guard]:
        """Yield the guards of `transfer` and `transferFrom`. A function that the budget cut yields
        none, as unexplored paths may bypass them."""
        for entry in MOVERS:
            if entry not in self.notes.cut:
                yield from self.guards(entry)

    def _find_guards(self, entry: FunctionId) -> Iterator[Guard]:
        flow = self.flow(entry)
        refusals = flow.revert_branches()
        if entry in MOVERS:
            refusals += flow.no_op_branches(self.is_balance_store)
            refusals += flow.void_moves(self.is_balance_store, self.moves_balance)
        seen = set()
        for refusal in refusals:
            test = refusal.test
            key = (test.pc, test.condition, test.holds)
            if key in seen:
                continue
            seen.add(key)
            if self._is_check(test) or self._is_about_call(test.condition):
                continue
            if self._is_decrement(refusal):
                continue
            reading = self.predicates.read(test, entry)
            context = self.context_of(entry, test) if entry in MOVERS else ()
            if not any(each.literal.contradicts(test) for each in context):
                yield Guard(refusal=refusal, test=reading, context=context)

    def _is_decrement(self, refusal: RevertBranch) -> bool:
        """True if a value must not be zero because one is subtracted from it (else it panics)."""
        test = refusal.test
        is_lowered = not test.holds and self.checks.is_lowered(test.condition)
        return is_lowered and refusal.at is not None and panics(self.program, refusal.at)

    def _is_about_call(self, condition: Expr) -> bool:
        """True if only the form of the call decides: selector, calldata size, call value."""
        atoms = self.dependencies.sources(condition)
        return all(atom.operation in _SELECTOR_LEAVES for atom in atoms)

    def decisions(self, entry: FunctionId) -> Iterator[BranchCondition]:
        """Yield the branches of which both sides can succeed."""
        flow = self.flow(entry)
        for branch in flow.branches():
            if branch.if_true in flow.can_succeed and branch.if_false in flow.can_succeed:
                yield BranchCondition(pc=branch.pc, condition=branch.condition, holds=True)

    def context_of(self, entry: FunctionId, test: BranchCondition) -> tuple[Predicate, ...]:
        """Return the control dependences of a test as predicates, without compiler checks."""
        flow = self.flow(entry)
        literals = flow.control_dependencies((test.pc, test.condition))
        found = {(literal.condition, literal.holds): literal for literal in literals}
        return tuple(
            self.predicates.read(literal, flow.entry)
            for literal in found.values()
            if not self._is_check(literal)
        )

    # --- calls --------------------------------------------------------------------------------

    def calls(self) -> Iterator[tuple[FunctionId, Effect]]:
        """Yield every effect other than a store (calls, logs), on paths that can succeed."""
        for entry in self.entries:
            for _, effect in self.flow(entry).effects():
                if effect.kind != "SSTORE":
                    yield entry, effect

    def slots_of(self, variables: Iterable[Variable]) -> set[int]:
        """Return the declared slots of variables, where they are plain numbers."""
        slots = (StorageLocation(root=root).slot for root, _ in variables)
        return {slot for slot in slots if slot is not None}
