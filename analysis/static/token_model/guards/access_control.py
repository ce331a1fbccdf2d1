"""Access control: conditions on the caller that decide whether a function goes on.

Recognised are comparisons of the caller, or of a value computed from it, with storage, a call
result, a constant or an immutable, and look-ups of the caller in mappings that others write. A
check in another form is missed. Covers guards and, outside transfers, branches of which one side
has no effect.
"""

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from analysis.static.dataflow.dependencies import CALLERS, HASHES
from analysis.static.dataflow.inversion import solve
from analysis.static.dataflow.predicates import CALLER, FROM, ORIGIN, Predicate, Variable
from analysis.static.evm.cfg import Effect, FunctionId
from analysis.static.evm.expressions import MASK, Expr, Value, address_in
from analysis.static.evm.function_cfg import BranchCondition
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.atomic_comparisons import atomic_comparisons
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.memoize import cached_on_model
from core.evm.primitives import ADDRESS_MASK

_SELVES: Final = frozenset({CALLER, FROM, ORIGIN})
_EQUALITIES: Final = frozenset({"EQ", "XOR", "SUB"})
_ORDERED: Final = frozenset({"LT", "GT", "SLT", "SGT"})
_TELLING: Final = HASHES | {"ADD", "AND", "MUL", "NOT", "OR", "SHL", "SUB", "XOR"}
"""Operations whose result differs for different callers, the other operands being fixed."""
_SETTLED: Final = frozenset({"SLOAD", "ADDRESS", "CHAINID", "memory"})
"""Leaves that the caller does not choose."""
_DEEPEST: Final = 8
_EFFECTS: Final = frozenset({"SSTORE", "CALL", "DELEGATECALL"})


class CallerCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A condition on the caller that decides whether a function goes on."""

    entry: FunctionId
    pc: int
    variables: frozenset[Variable]
    """Storage that holds or lists the permitted callers; empty if none does."""


@cached_on_model
def caller_checks(code: ContractModel) -> Iterator[CallerCheck]:
    """Yield the caller checks of every function.

    Only if there are none: conditions that lead to guards on another contract's answer.
    """
    found = list(_checks(code, _tests))
    yield from found or _checks(code, _decisions)


def _checks(
    code: ContractModel, readings_of: Callable[[ContractModel, FunctionId], Iterator[Predicate]]
) -> Iterator[CallerCheck]:
    for entry in code.functions.entries:
        for reading in readings_of(code, entry):
            variables = _asked(code, reading)
            if variables is not None:
                yield CallerCheck(entry=entry, pc=reading.literal.pc, variables=variables)


def _decisions(code: ContractModel, entry: FunctionId) -> Iterator[Predicate]:
    """Yield the conditions that lead to a guard on another contract's answer, outside transfers."""
    for guard in code.guards.of(entry):
        if guard.test.has_answer and entry not in MOVERS:
            yield from code.guards.context_of(entry, guard.refusal.test)


def _tests(code: ContractModel, entry: FunctionId) -> Iterator[Predicate]:
    for guard in code.guards.of(entry):
        yield guard.test
    if entry in MOVERS:
        return
    seen: set[BranchCondition] = set()
    for refusal in code.functions.cfg(entry).no_op_branches(_is_effect):
        if refusal.test not in seen:
            seen.add(refusal.test)
            yield code.storage.predicates.read(refusal.test, entry)


def caller_branches(code: ContractModel, entry: FunctionId) -> set[int]:
    """Return the program counters of branches on the caller of which both sides go on, outside
    transfers: an owner is treated in another way, and nobody is rejected."""
    if entry in MOVERS:
        return set()
    return {
        decision.pc
        for decision in code.guards.decisions(entry)
        if _asked(code, code.storage.predicates.read(decision, entry)) is not None
    }


def _is_effect(effect: Effect) -> bool:
    return effect.kind in _EFFECTS


def _asked(code: ContractModel, reading: Predicate) -> frozenset[Variable] | None:
    """Return storage that the caller is compared with or looked up in. None: no caller check."""
    literal = reading.literal
    terms = list(atomic_comparisons(code, literal.condition, holds=literal.holds))
    if any(_is_owner_test(code, term, is_true) for term, is_true in terms):
        return reading.addresses | reading.globals | frozenset(_hashed_variables(code, terms))
    if any(term.operation in _ORDERED for term, _ in terms):
        return None
    listed = frozenset(
        variable
        for variable, party in reading.lists
        if party in _SELVES
        and not code.writes.are_callers_own(variable)
        and not _is_left_by_transfers(code, variable)
    )
    return listed or None


def _is_left_by_transfers(code: ContractModel, variable: Variable) -> bool:
    """True if only transfers write it, as they do the time of the last transfer."""
    writes = list(code.writes.to(variable))
    return bool(writes) and all(write.entry in MOVERS for write in writes)


def _is_owner_test(code: ContractModel, term: Expr, is_true: bool) -> bool:
    """True if the term compares the caller, in whatever form, with a privileged address.

    `is_true`: the term's truth where the function reverts.
    """
    if term.operation in CALLERS:
        # what remains of a difference to an immutable that deployment fills in (zero here)
        return is_true and code.program.has_blank_words
    if term.operation == "ADD":
        # the sum is zero if the caller is the number whose negative is added
        return isinstance(term.arguments[0], int) and _is_named(code, term, 0)
    if term.operation not in _EQUALITIES:
        return False
    is_unequal = is_true is not (term.operation == "EQ")
    return any(
        _is_named(code, one, other, is_unequal=is_unequal)
        for one, other in (term.arguments, term.arguments[::-1])
    )


def _is_named(code: ContractModel, one: Value, other: Value, *, is_unequal: bool = False) -> bool:
    """True if one value is computed from the caller, and the other identifies an address.

    `is_unequal`: the function reverts where they differ. Zero is then an immutable that deployment
    fills in: no caller has the address zero.
    """
    if not _is_caller(code, one):
        return False
    word = code.dependencies.single_value(other)
    if not isinstance(word, int):
        return any(True for _ in _named_by(code, word, _DEEPEST))
    who = solve(one, word)
    if who == 0:
        return is_unequal and code.program.has_blank_words
    return who is None or who <= ADDRESS_MASK


def _is_caller(code: ContractModel, word: Value, depth: int = _DEEPEST) -> bool:
    """True if the value is the caller, or made of it and fixed values so as to identify it."""
    bare = address_in(code.dependencies.single_value(word))
    if not isinstance(bare, Expr) or not depth:
        return False
    if bare.operation in CALLERS:
        return True
    if bare.operation not in _TELLING:
        return False
    kinds = {atom.operation for part in bare.arguments for atom in code.dependencies.sources(part)}
    is_chosen = bool(kinds - CALLERS - _SETTLED)
    return not is_chosen and any(_is_caller(code, part, depth - 1) for part in bare.arguments)


def _named_by(code: ContractModel, word: Value, depth: int) -> Iterator[Expr]:
    """Yield storage reads and call results that the value depends on, also inside hashes."""
    for atom in code.dependencies.sources(word):
        if atom.operation in ("SLOAD", "result"):
            yield atom
        elif atom.operation in HASHES and depth:
            for part in atom.arguments:
                yield from _named_by(code, part, depth - 1)


def _hashed_variables(code: ContractModel, terms: list[tuple[Expr, bool]]) -> Iterator[Variable]:
    """Yield variables whose hash is compared with the caller's."""
    for term, _ in terms:
        for side in term.arguments:
            if isinstance(side, Expr) and side.operation in HASHES:
                for atom in _named_by(code, side, _DEEPEST):
                    if atom.operation == "SLOAD":
                        for place in code.layout.of(atom.arguments[0]):
                            yield place.root, MASK
