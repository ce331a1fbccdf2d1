"""One-shot functions and initializers: functions that a stored flag closes, which they set.

A function is one-shot if it stores to a plain variable that its branches test, and no value that
calls leave there lets it store again. An initializer is one-shot and needs no earlier
set-up, such as an owner.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from analysis.static.dataflow.dependencies import is_own_address
from analysis.static.dataflow.predicates import Variable, evaluate
from analysis.static.dataflow.storage_layout import VariableId, field_of, settled_bits
from analysis.static.evm.cfg import UNRESOLVED, CfgNode, FunctionId
from analysis.static.evm.expressions import Expr, Value, lowest_bit
from analysis.static.evm.function_cfg import FunctionCfg
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.access_control import caller_checks
from analysis.static.token_model.memoize import cached_on_model
from analysis.static.token_model.storage.constant_slots import may_be_entry
from analysis.static.token_model.storage.write_index import StorageWrite

FlagState = Mapping[Variable, int]
"""Values of plain variables, in place."""

_MOST_STATES: Final = 2_000
"""Nodes, each with the values of phis, that one search visits."""


def is_initializer(code: ContractModel, entry: FunctionId) -> bool:
    """True if the function sets the contract up: it runs once, and tests nothing that has to be set
    up before it, such as an owner or a time."""
    return is_one_shot(code, entry) and not (
        _asks_for_owner(code, entry)
        or any(branch.condition.depends_on_time for branch in code.functions.cfg(entry).branches())
    )


def _asks_for_owner(code: ContractModel, entry: FunctionId) -> bool:
    """True if a caller check uses storage that the function does not write itself."""
    return any(
        not any(write.entry == entry for write in code.writes.to(variable))
        for check in caller_checks(code)
        if check.entry == entry
        for variable in check.variables
    )


def is_one_shot(code: ContractModel, entry: FunctionId) -> bool:
    """True if the function cannot store again once it has stored, and no store undoes it."""
    return entry in _one_shots(code)


@cached_on_model
def _one_shots(code: ContractModel) -> Iterator[FunctionId]:
    for entry in code.functions.entries:
        pcs = {write.pc for write in code.writes.all if write.entry == entry}
        flags = _flags(code, entry)
        if any(
            all(_is_closed(code, entry, pcs, state) for state in _left_by_calls(flags, flag))
            for flag, values in flags.items()
            if values
        ):
            yield entry


def closing_states(
    code: ContractModel, entry: FunctionId, pcs: Collection[int]
) -> Iterator[FlagState]:
    """Yield values of a one-shot function's flags with which no path reaches the effects: those
    that calls leave, and the largest one."""
    flags = _flags(code, entry) if is_one_shot(code, entry) else {}
    for flag, values in flags.items():
        largest = {flag: (*(values or ()), flag[1])}
        for state in _left_by_calls({**flags, **largest}, flag):
            if _is_closed(code, entry, pcs, state):
                yield state


def _flags(code: ContractModel, entry: FunctionId) -> dict[Variable, tuple[int, ...] | None]:
    """Return the plain variables that the function tests and stores to, each with its values.

    Values are those that any function stores, in place. None: they are not all fixed.
    """
    tested = {
        (slot, bits): None
        for branch in code.functions.cfg(entry).branches()
        for slot, bits in code.dependencies.reads(branch.condition)
        if isinstance(slot, int) and not may_be_entry(slot)
    }
    flags: dict[Variable, tuple[int, ...] | None] = {}
    for flag in tested:
        writes = list(code.writes.to(flag))
        if any(write.entry == entry for write in writes):
            stored = dict.fromkeys(_stored(write, flag) for write in writes)
            values = tuple(value for value in stored if value is not None)
            flags[flag] = values if len(values) == len(stored) else None
    return flags


def _stored(write: StorageWrite, flag: Variable) -> int | None:
    """Return the value that a store leaves in a variable, in place. None: it is not fixed."""
    bits = flag[1]
    field = field_of(write.value, bits)
    return field << lowest_bit(bits) if isinstance(field, int) else settled_bits(write.value, bits)


def _left_by_calls(
    flags: Mapping[Variable, tuple[int, ...] | None], flag: Variable
) -> Iterator[FlagState]:
    """Yield the states of a flag after calls, with the other flags at rest: 0, as locks are, or the
    only value that is stored."""
    others = {
        other: 0 if 0 in values else values[0]
        for other, values in flags.items()
        if other != flag and values is not None and (0 in values or len(values) == 1)
    }
    for value in flags[flag] or ():
        yield {**others, flag: value}


def _is_closed(
    code: ContractModel, entry: FunctionId, pcs: Collection[int], state: FlagState
) -> bool:
    """True if no path reaches one of the effects, or a store to a flag, in this state."""
    flow = code.functions.cfg(entry)
    own = {write.pc for flag in state for write in code.writes.to(flag) if write.entry == entry}
    targets = {node for node, effect in flow.effects() if effect.pc in own or effect.pc in pcs}
    targets |= {node for node in flow.can_succeed if node.end == UNRESOLVED}
    return _Reach(code, flow, state).is_free_of(targets)


class _Reach:
    """Reachability in one function while flags have fixed values."""

    def __init__(self, code: ContractModel, flow: FunctionCfg, state: FlagState) -> None:
        self._code = code
        self._flow = flow
        self._words: dict[VariableId, int] = {}
        self._masks: dict[VariableId, int] = {}
        for (root, bits), value in state.items():
            self._words[root] = self._words.get(root, 0) | value
            self._masks[root] = self._masks.get(root, 0) | bits
        self._is_deployed = dict.fromkeys(_own_code_sizes(code), 1)

    def is_free_of(self, targets: Collection[CfgNode]) -> bool:
        """True if no path reaches one of these nodes. Phis are evaluated on each edge."""
        waiting = [
            (root, frozenset[tuple[Expr, int]]())
            for root in self._code.functions.roots(self._flow.entry)
        ]
        seen = set(waiting)
        while waiting:
            node, phis = waiting.pop()
            if node in targets or len(seen) > _MOST_STATES:
                return False
            for state in self._after(node, dict(phis)):
                if state not in seen and state[0] in self._flow.can_succeed:
                    seen.add(state)
                    waiting.append(state)
        return True

    def _after(
        self, node: CfgNode, phis: dict[Expr, int]
    ) -> Iterator[tuple[CfgNode, frozenset[tuple[Expr, int]]]]:
        branch = node.branch
        if branch is not None:
            truth = self._evaluate(branch.condition, phis)
            for holds, after in ((True, branch.if_true), (False, branch.if_false)):
                if truth is None or bool(truth) is holds:
                    yield after, frozenset(phis.items())
        elif node.following is not None:
            merged = dict(phis)
            for phi, word in node.phi.operands() if node.phi is not None else ():
                merged.pop(phi, None)
                value = self._evaluate(word, phis)
                if value is not None:
                    merged[phi] = value
            yield node.following, frozenset(merged.items())

    def _evaluate(self, word: Value, phis: dict[Expr, int]) -> int | None:
        for slot, bits in self._code.dependencies.reads(word):
            if isinstance(slot, int) and bits & ~self._masks.get(slot, 0):
                return None  # other variables in the slot
        known = {**self._is_deployed, **phis}
        return evaluate(word, self._word, known=known)

    def _word(self, slot: Value) -> int | None:
        return self._words.get(slot) if isinstance(slot, int) else None


@cached_on_model
def _own_code_sizes(code: ContractModel) -> Iterator[Expr]:
    """Yield the sizes of the contract's own code, which are not zero once it is deployed."""
    for term in code.pool.terms():
        if term.operation == "EXTCODESIZE" and is_own_address(term.arguments[0]):
            yield term
