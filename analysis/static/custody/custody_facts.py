"""Branch conditions translated into facts about custody: equal addresses and covered allowances.

Input: one condition with its phis resolved on a path, and its outcome. Output: hashable facts that
`custody_search` keeps along the path. A condition irrelevant to custody yields none.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

import msgspec

from analysis.static.dataflow.addresses import is_caller, party
from analysis.static.dataflow.dependencies import CALLERS
from analysis.static.dataflow.linear_amounts import (
    LinearAmount,
    change_of,
    core,
    negated,
    plus,
    reductions,
)
from analysis.static.dataflow.predicates import evaluate
from analysis.static.dataflow.storage_layout import StorageLocation, VariableId
from analysis.static.evm.expressions import Expr, Value
from analysis.static.evm.instruction_effects import ECRECOVER
from analysis.static.token_model.contract_model import ContractModel
from core.evm.primitives import ADDRESS_BITS

_EQUALITIES: Final = frozenset({"EQ", "XOR", "SUB"})
_ENDLESS: Final = 2**95
"""Tokens with unlimited allowances do not lower an allowance of at least this many raw units."""
_DEEPEST: Final = 8
_ABOVE_ADDRESS: Final = 256 - ADDRESS_BITS
_HALF: Final = 2**255


class EqualityFact(msgspec.Struct, frozen=True, cache_hash=True):
    """Both expressions have the same value: one address or one number."""

    one: Value
    other: Value


class AllowanceCovers(msgspec.Struct, frozen=True, cache_hash=True):
    """The slot holds at least this sum."""

    slot: Value
    amount: LinearAmount


class AllowanceUnlimited(msgspec.Struct, frozen=True, cache_hash=True):
    """The slot holds a number treated as an unlimited allowance."""

    slot: Value


class CallerListed(msgspec.Struct, frozen=True, cache_hash=True):
    """The slot keyed by the caller is set: an entry of zero would have taken the other branch."""

    slot: Value


class NotNegative(msgspec.Struct, frozen=True, cache_hash=True):
    """The difference is not negative."""

    minuend: Value
    subtrahend: Value


class Distinct(msgspec.Struct, frozen=True, cache_hash=True):
    """Both expressions have different values."""

    one: Value
    other: Value


Fact = EqualityFact | AllowanceCovers | AllowanceUnlimited | CallerListed | NotNegative | Distinct


class FactReader:
    """Reads the facts from the conditions of one code, with memoised results."""

    def __init__(self, code: ContractModel) -> None:
        self._code = code
        self._known: dict[tuple[Value, bool], tuple[Fact, ...]] = {}

    def facts(self, condition: Value, *, holds: bool) -> tuple[Fact, ...]:
        """Return the facts that follow from the condition having this outcome."""
        key = (condition, holds)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = tuple(self._read(condition, holds=holds))
        return known

    def may_tell(self, condition: Expr) -> bool:
        """True if a condition may yield a fact under some operands of its phis."""
        return condition in self._telling

    @cached_property
    def _telling(self) -> set[Expr]:
        """The expressions with a relevant subexpression, found in one pass over the pool."""
        users: dict[Expr, list[Expr]] = {}
        waiting: list[Expr] = []
        for term, parts in self._terms():
            if self._is_telling(term):
                waiting.append(term)
            for part in parts:
                if isinstance(part, Expr):
                    users.setdefault(part, []).append(term)
        found = set(waiting)
        while waiting:
            fresh = set(users.get(waiting.pop(), ())) - found
            found |= fresh
            waiting.extend(fresh)
        return found

    def _terms(self) -> Iterator[tuple[Expr, Iterable[Value]]]:
        pool = self._code.pool
        yield from ((term, term.arguments) for term in list(pool.terms()))
        yield from list(pool.phi_operands.items())

    def _is_telling(self, term: Expr) -> bool:
        if term.operation in CALLERS:
            return True
        if term.operation == "result":
            target = term.arguments[0]
            return isinstance(target, Expr) or target == ECRECOVER
        return term.operation == "SLOAD" and any(
            place.root in self._code.storage.roles.allowances or any(map(is_caller, place.keys))
            for place in self._code.layout.of(term.arguments[0])
        )

    def _read(self, condition: Value, *, holds: bool) -> Iterator[Fact]:
        for term, is_true in parts_of_condition(condition, holds=holds):
            if (term.operation == "EQ") is is_true and term.operation in _EQUALITIES:
                yield from _equal(term)
            elif term.operation == "SHL" and not is_true:
                # addresses are compared in the high bits of a word
                shift, inner = term.arguments
                is_whole = isinstance(shift, int) and shift <= _ABOVE_ADDRESS
                if is_whole and isinstance(inner, Expr) and inner.operation in ("XOR", "SUB"):
                    yield from _equal(inner)
            yield from _bounds(term, is_true=is_true)
            yield from self._lists(term, is_true=is_true)

    def _lists(self, term: Expr, *, is_true: bool) -> Iterator[CallerListed]:
        slots = [
            slot
            for slot, _ in self._code.dependencies.reads(term)
            if any(
                any(map(is_caller, place.keys)) and not self._is_account(place.root)
                for place in self._code.layout.of(slot)
            )
        ]
        if not slots:
            return
        value = evaluate(term, lambda slot: 0 if slot in slots else None)
        if value is not None and bool(value) is not is_true:
            yield from map(CallerListed, slots)
        elif value is None and term.operation in ("LT", "GT", "EQ"):
            # the other operand is not known: `now > mark[caller]` after `mark[caller] != 0`
            return

    def _is_account(self, root: VariableId) -> bool:
        roles = self._code.storage.roles
        return root in roles.balances or root in roles.allowances


NormalForm = Value | EqualityFact
"""A condition in normal form: two expressions are equal, or one expression is not zero."""


def normal(condition: Value, *, holds: bool) -> tuple[NormalForm, bool]:
    """Return the normal form of a condition and its outcome, so that contradictions are found."""
    while isinstance(condition, Expr):
        match (condition.operation, condition.arguments):
            case ("ISZERO", (inner,)) | ("EQ", (0, inner)):
                condition, holds = inner, not holds
            case (("SUB" | "XOR"), (0, inner)):
                condition = inner
            case (("SUB" | "XOR"), (one, other)):
                return EqualityFact(one, other), not holds
            case ("EQ", (one, other)):
                return EqualityFact(one, other), holds
            case _:
                break
    return condition, holds


def is_plain(place: StorageLocation) -> bool:
    """True if the location is a plain variable: a fixed slot without mapping keys."""
    return not place.keys and isinstance(place.root, int)


def parts_of_condition(condition: Value, *, holds: bool) -> Iterator[tuple[Expr, bool]]:
    """Yield the comparisons whose outcome follows from that of the resolved condition."""
    waiting: list[tuple[Value, bool, int]] = [(condition, holds, _DEEPEST)]
    while waiting:
        term, is_true, depth = waiting.pop()
        if not isinstance(term, Expr) or depth == 0:
            continue
        match (term.operation, term.arguments):
            case ("ISZERO", (inner,)):
                waiting.append((inner, not is_true, depth - 1))
            case (("EQ" | "XOR"), (int(bit), Expr() as inner)) if bit in (0, 1) and _is_bool(inner):
                waiting.append((inner, is_true is ((term.operation == "EQ") is bool(bit)), depth))
            case ("EQ", (0, inner)):
                waiting.append((inner, not is_true, depth - 1))
            case ("AND", (one, other)) if is_true and _is_bool(one) and _is_bool(other):
                waiting += [(one, True, depth - 1), (other, True, depth - 1)]
            case ("AND", (1, inner)):
                waiting.append((inner, is_true, depth - 1))
            case ("OR", (one, other)) if not is_true:
                waiting += [(one, False, depth - 1), (other, False, depth - 1)]
            case _:
                yield term, is_true


def _is_bool(word: Value) -> bool:
    if not isinstance(word, Expr):
        return word in (0, 1)
    if word.operation in ("AND", "OR", "XOR"):
        return all(map(_is_bool, word.arguments))
    return word.operation in _BOOLEANS


_BOOLEANS: Final = frozenset({"EQ", "LT", "GT", "SLT", "SGT", "ISZERO", "success"})


def _equal(term: Expr) -> Iterator[Fact]:
    one, other = term.arguments
    yield EqualityFact(party(one), party(other))
    for side, number in ((one, other), (other, one)):
        bare = core(side)
        if isinstance(number, int) and number >= _ENDLESS:
            yield from _endless(bare)


def _endless(word: Value) -> Iterator[AllowanceUnlimited]:
    if isinstance(word, Expr) and word.operation == "SLOAD":
        yield AllowanceUnlimited(word.arguments[0])


def _bounds(term: Expr, *, is_true: bool) -> Iterator[Fact]:
    match (term.operation, term.arguments):
        case ("NOT", (inner,)) | ("ADD", (1, inner)) if not is_true:
            yield from _endless(core(inner))
        case ("LT", (one, other)):
            yield from _at_least(*((other, one) if is_true else (one, other)))
        case ("GT", (one, other)):
            yield from _at_least(*((one, other) if is_true else (other, one)))


def _at_least(large: Value, small: Value) -> Iterator[Fact]:
    *_, bare = reductions(large)  # what is stored is at least a part of it
    if not isinstance(bare, Expr) or bare.operation != "SLOAD":
        return
    slot = bare.arguments[0]
    if isinstance(small, int):
        if small >= _ENDLESS:
            yield AllowanceUnlimited(slot)
        return
    taken = change_of(small, slot)
    if taken is None:
        yield AllowanceCovers(slot, plus([small]))
    else:
        yield AllowanceCovers(slot, negated(taken))


def refused_differences(
    code: ContractModel, condition: Value, *, holds: bool
) -> Iterator[tuple[Value, Value]]:
    """Yield minuend and subtrahend of differences that may be negative only if the condition holds
    so."""
    for small, large in _less_than(condition, holds=holds):
        # also for what `small` is a part of
        for whole in reductions(small):
            yield whole, large
        if isinstance(large, Expr) and large.operation == "SUB":
            # a negative difference is larger than the minuend, and a huge number, larger than any
            # balance, if no huge number is subtracted
            minuend, subtrahend = large.arguments
            if small is minuend or (
                _is_below_half(code, small) and _is_below_half(code, subtrahend)
            ):
                yield minuend, subtrahend


def known_differences(
    code: ContractModel, condition: Value, *, holds: bool
) -> Iterator[tuple[Value, Value]]:
    """Yield minuend and subtrahend of differences that are not negative if the condition holds
    so."""
    yield from refused_differences(code, condition, holds=not holds)
    for small, large in _less_than(condition, holds=holds):
        for whole in reductions(large):
            yield whole, small
        if isinstance(large, int):
            yield large - 1, small


def _less_than(condition: Value, *, holds: bool) -> Iterator[tuple[Value, Value]]:
    """Yield the smaller and the larger number of comparisons that are true if the condition holds
    so."""
    for term, is_true in parts_of_condition(condition, holds=holds):
        if term.operation in ("LT", "GT") and is_true:
            one, other = term.arguments
            yield (one, other) if term.operation == "LT" else (other, one)


def _is_below_half(code: ContractModel, word: Value) -> bool:
    """True if the number is a balance, a quotient, or a constant below half of all numbers."""
    if isinstance(word, int):
        return word < _HALF
    match (word.operation, word.arguments):
        case ("DIV", (_, int(number))) if number > 1:
            return True
        case ("AND", (int(mask), _)) if mask < _HALF:
            return True
        case ("SHR", (int(shift), _)) if shift:
            return True
    *_, bare = reductions(word)
    return (
        isinstance(bare, Expr)
        and bare.operation == "SLOAD"
        and all(
            place.root in code.storage.roles.balances for place in code.layout.of(bare.arguments[0])
        )
    )
