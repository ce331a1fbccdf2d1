"""Setters of storage variables: the callers, tests and values of each function that stores to one.

Inputs: the contract model and its caller checks. A caller or test counts only if every path to the
stores requires it. Bounds: `_MOST_TESTS` conditions of a function, `_MOST_STEPS` of a value.
"""

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from analysis.static.custody.custody_facts import parts_of_condition
from analysis.static.custody.custody_report import PrivilegedParty, party_of
from analysis.static.custody.privileged_callers import PrivilegedCallers
from analysis.static.custody.refuted_edges import refuted_edges
from analysis.static.dataflow.predicates import Variable
from analysis.static.dataflow.storage_layout import UNKNOWN, StorageLocation, field_of
from analysis.static.evm.cfg import CfgNode, FunctionId, selector_of
from analysis.static.evm.expressions import FOLDED, MASK, Expr, Value, address_in
from analysis.static.evm.function_cfg import CfgEdge, FunctionCfg
from analysis.static.evm.path_state import MOVERS
from analysis.static.powers.static_powers import Authority, Relation, Setter, StateTest
from analysis.static.token_model.caps.cap_rules import ComputationStep
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.initializers import FlagState, closing_states
from analysis.static.token_model.storage.constant_slots import may_be_entry
from analysis.static.token_model.storage.owned_variables import writes_of
from analysis.static.token_model.storage.variable_writers import written_to
from analysis.static.token_model.storage.write_index import StorageWrite
from core.evm.primitives import Hash32, to_hash32

_MOST_TESTS: Final = 24
"""Conditions of one function that are tried as required ones."""

_MOST_STEPS: Final = 60
_OF_CALLS: Final = frozenset({"CALLDATASIZE", "CALLVALUE"})
"""Sources of the compiler's tests of calldata and of coins that are not expected."""

_ORDERS: Final = frozenset({"LT", "GT"})

_Literal = tuple[int, Expr, bool]
"""Program counter, condition and outcome of a branch."""


class SetterFinder:
    """Finds the setters of one contract's variables; results are memoised."""

    def __init__(self, code: ContractModel, gates: PrivilegedCallers) -> None:
        self._code = code
        self._gates = gates
        self._setters: dict[Variable, tuple[Setter, ...]] = {}
        self._required: dict[tuple[FunctionId, frozenset[int]], tuple[_Literal, ...]] = {}
        self._tested: dict[FunctionId, _Tested] = {}

    def setters(self, variable: Variable) -> tuple[Setter, ...]:
        """Return the setters of a variable, one for each function."""
        if variable not in self._setters:
            by_entry: dict[FunctionId, list[StorageWrite]] = {}
            for write in writes_of(self._code, variable):
                by_entry.setdefault(write.entry, []).append(write)
            self._setters[variable] = tuple(
                self._setter(variable, entry, writes) for entry, writes in by_entry.items()
            )
        return self._setters[variable]

    def is_on_every_path(self, entry: FunctionId, pcs: Collection[int]) -> bool:
        """True if every call of the function that succeeds runs one of these effects."""
        flow = self._code.functions.cfg(entry)
        running = {node for node, effect in flow.effects() if effect.pc in pcs}
        marks = {(node, after): 1 for node in running for after in node.successors()}
        passed = flow.passed(marks, self._tested_of(entry).refuted)
        ends = (node for node in flow.can_succeed if not node.successors())
        return all(node in running or passed[node] for node in ends)

    def setter_at(self, entry: FunctionId, pcs: Collection[int]) -> Setter:
        """Return the setter of one function for effects whose values do not matter."""
        return self._authorised((UNKNOWN, MASK), entry, frozenset(pcs))

    def _setter(self, variable: Variable, entry: FunctionId, writes: list[StorageWrite]) -> Setter:
        pcs = frozenset(write.pc for write in writes)
        found = self._authorised(variable, entry, pcs)
        written = written_to(self._code, variable, writes, is_final=False)
        if written is not None and not written.is_free and not written.clocks:
            found = _with(found, values=written.constants)
        first, *others = dict.fromkeys(field_of(write.value, variable[1]) for write in writes)
        if first is None or others or found.values is not None:
            return found
        computed = SetterComputation(self._code)
        at = computed.write(first)
        relations = tuple(self._relations(computed, entry, pcs))
        if computed.is_full:
            return found
        return _with(found, steps=tuple(computed.steps), value=at, relations=relations)

    def _authorised(self, variable: Variable, entry: FunctionId, pcs: frozenset[int]) -> Setter:
        root, bits = variable
        slot = StorageLocation(root=root).slot
        authority, callers = self._authority(entry, pcs)
        return Setter(
            selector=selector_of(entry),
            slot=None if slot is None else to_hash32(slot),
            bits=to_hash32(bits),
            is_entry=isinstance(root, tuple),
            authority=authority,
            callers=callers,
            tests=tuple(self._tests(entry, pcs)),
        )

    def _authority(
        self, entry: FunctionId, pcs: frozenset[int]
    ) -> tuple[Authority, tuple[PrivilegedParty, ...]]:
        flow = self._code.functions.cfg(entry)
        is_here = any(effect.pc in pcs for _, effect in flow.effects())
        required = self._gates.callers_required_before(entry, set(pcs)) if is_here else None
        if required is None:
            authority: Authority = "trades" if entry in MOVERS else "anybody"
            return ("self" if self._is_of_self(entry, pcs) else authority), ()
        parties, lists = required
        known = [each for each in parties if each not in self._gates.derived]
        named = (*(party_of(self._code, each) for each in known), *map(_unnamed, lists))
        if len(known) < len(parties):
            named = (*named, PrivilegedParty())
        return "named", tuple(dict.fromkeys(named)) or (PrivilegedParty(),)

    def _is_of_self(self, entry: FunctionId, pcs: frozenset[int]) -> bool:
        """True if every path to the stores requires that the contract calls itself."""
        return any(
            term.operation in ("EQ", "SUB", "XOR")
            and (term.operation == "EQ") is is_true
            and {_operation(part) for part in term.arguments} == {"CALLER", "ADDRESS"}
            for _, condition, holds in self._required_literals(entry, pcs)
            for term, is_true in parts_of_condition(condition, holds=holds)
        )

    # --- conditions that every path meets -------------------------------------------------------

    def _tests(self, entry: FunctionId, pcs: frozenset[int]) -> Iterator[StateTest]:
        """Yield the required conditions that depend on plain storage alone. Further ones exclude
        the states of flags that close the function."""
        for _, condition, holds in self._required_literals(entry, pcs):
            computed = SetterComputation(self._code)
            computed.write(condition)
            if not computed.is_full and computed.is_of_state:
                fields = dict.fromkeys(
                    (to_hash32(slot), to_hash32(bits))
                    for slot, bits in self._code.dependencies.reads(condition)
                    if isinstance(slot, int)
                )
                yield StateTest(steps=tuple(computed.steps), holds=holds, fields=tuple(fields))
        for state in closing_states(self._code, entry, pcs):
            yield _is_not(state)

    def _relations(
        self, computed: "SetterComputation", entry: FunctionId, pcs: frozenset[int]
    ) -> Iterator[Relation]:
        for _, condition, holds in self._required_literals(entry, pcs):
            for term, is_true in parts_of_condition(condition, holds=holds):
                if term.operation not in _ORDERS:
                    continue
                small, large = term.arguments if term.operation == "LT" else term.arguments[::-1]
                if not is_true:
                    small, large = large, small
                yield Relation(computed.write(small), computed.write(large), is_true)

    def _required_literals(self, entry: FunctionId, pcs: frozenset[int]) -> tuple[_Literal, ...]:
        key = (entry, pcs)
        if key not in self._required:
            self._required[key] = tuple(self._find_required(entry, pcs))
        return self._required[key]

    def _find_required(self, entry: FunctionId, pcs: frozenset[int]) -> Iterator[_Literal]:
        flow = self._code.functions.cfg(entry)
        tested = self._tested_of(entry)
        targets = [node for node, effect in flow.effects() if effect.pc in pcs]
        reaching = flow.leading_to(targets, tested.refuted)
        ahead = dict.fromkeys(
            literal for (_, after), literal in tested.literals if after in reaching
        )
        once = (
            literal
            for literal in ahead
            if (literal[0], literal[1], not literal[2]) not in ahead
            and not self._code.dependencies.has(literal[1], _OF_CALLS)
        )
        required = -1
        for node in targets:
            required &= tested.passed[node]
        for literal in islice(once, _MOST_TESTS):
            if required & tested.bits[literal]:
                yield literal

    def _tested_of(self, entry: FunctionId) -> "_Tested":
        known = self._tested.get(entry)
        if known is None:
            known = self._tested[entry] = _conditions_passed(self._code.functions.cfg(entry))
        return known


class _Tested(NamedTuple):
    """The branches of one function, and which of them every path to a node has taken."""

    refuted: set[CfgEdge]
    """Edges that no path takes."""
    literals: list[tuple[CfgEdge, _Literal]]
    """All other edges of branches, each with its literal."""
    bits: dict[_Literal, int]
    passed: dict[CfgNode, int]
    """Bits of the literals on every path to a node."""


def _conditions_passed(flow: FunctionCfg) -> _Tested:
    refuted = refuted_edges(flow)
    literals: list[tuple[CfgEdge, _Literal]] = []
    bits: dict[_Literal, int] = {}
    marks: dict[CfgEdge, int] = {}
    for node, branch in flow.branching():
        for holds, after in ((True, branch.if_true), (False, branch.if_false)):
            edge = (node, after)
            if edge not in refuted:
                literal = (branch.pc, branch.condition, holds)
                literals.append((edge, literal))
                bit = bits.setdefault(literal, 1 << len(bits))
                marks[edge] = marks.get(edge, 0) | bit
    return _Tested(refuted, literals, bits, flow.passed(marks, refuted))


def _is_not(state: FlagState) -> StateTest:
    """Return the condition that the flags are not in this state."""
    steps: list[ComputationStep] = []
    fields: list[tuple[Hash32, Hash32]] = []
    for (root, bits), value in state.items():
        at, slot = len(steps), StorageLocation(root=root).slot or 0
        steps += (
            ComputationStep("slot", (), to_hash32(slot)),
            ComputationStep("number", (), to_hash32(bits)),
            ComputationStep("AND", (at, at + 1)),
            ComputationStep("number", (), to_hash32(value)),
            ComputationStep("EQ", (at + 2, at + 3)),
        )
        if at:
            steps.append(ComputationStep("AND", (at - 1, at + 4)))
        fields.append((to_hash32(slot), to_hash32(bits)))
    return StateTest(steps=tuple(steps), holds=False, fields=tuple(fields))


def _with(setter: Setter, **changes: object) -> Setter:
    return msgspec.structs.replace(setter, **changes)


def _operation(word: Value) -> str:
    bare = address_in(word)
    return bare.operation if isinstance(bare, Expr) else ""


def _unnamed(_: Value) -> PrivilegedParty:
    return PrivilegedParty()


class SetterComputation:
    """Steps of expressions over plain storage, constants and calldata words."""

    def __init__(self, code: ContractModel) -> None:
        self._code = code
        self.steps: list[ComputationStep] = []
        self._known: dict[Value, int] = {}
        self.is_of_state = True
        """True if every leaf is a constant or plain storage."""

    @property
    def is_full(self) -> bool:
        """True if the bound on steps was reached."""
        return len(self.steps) > _MOST_STEPS

    def write(self, word: Value) -> int:
        """Return the index of the value's step."""
        word = self._code.dependencies.single_value(word)
        if word not in self._known:
            self._known[word] = self._write(word)
        return self._known[word]

    def _write(self, word: Value) -> int:
        if self.is_full:
            return self._leaf("unknown")
        if isinstance(word, int):
            return self._leaf("number", word)
        argument = word.arguments[0] if word.arguments else None
        if word.operation == "SLOAD":
            places = self._code.layout.of(word.arguments[0])
            slot = places[0].slot if len(places) == 1 and places[0].is_plain else None
            if slot is not None and not may_be_entry(slot):
                return self._leaf("slot", slot)
        elif word.operation == "CALLDATALOAD" and isinstance(argument, int):
            self.is_of_state = False
            return self._leaf("argument", argument)
        elif word.operation in FOLDED and word.arguments:
            inner = tuple(map(self.write, word.arguments))
            self.steps.append(ComputationStep(word.operation, inner))
            return len(self.steps) - 1
        self.is_of_state = False
        return self._leaf("unknown")

    def _leaf(self, operation: str, word: int | None = None) -> int:
        at = None if word is None else to_hash32(word)
        self.steps.append(ComputationStep(operation, (), at))
        return len(self.steps) - 1
