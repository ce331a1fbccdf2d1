"""Linear arithmetic over token amounts: the amount by which a store changes a slot.

Masks and shifts that pack a number into its slot are stripped around sums and reads; terms are
exact, so that a truncated amount is another one than the whole.

Source of the patterns: what solc, Vyper and hand-written assembly emit for `x -= y`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from analysis.static.evm.expressions import (
    MASK,
    Expr,
    Value,
    is_power_of_two,
    lowest_bit,
    subterms,
)

_MOST_SUMMANDS: Final = 24
_NARROWEST_BITS: Final = 64
"""Masks of fewer bits do not hold amounts."""
_HALF: Final = 2**255
_SUSPICIOUS: Final = frozenset({"NOT", "XOR", "SIGNEXTEND", "SDIV", "SMOD", "SAR"})

UNSTEADY: Final = frozenset({"result", "BALANCE", "SELFBALANCE", "GAS", "MSIZE", "TLOAD"})
"""Operations of which two results have one expression and may differ: they are read from outside,
at other times."""
_SUMS: Final = frozenset({"ADD", "SUB", "MUL", "AND", "OR"})
_MOST_TERMS: Final = 400

LinearAmount = frozenset[tuple[Value, int]]
"""A linear sum: its terms and their integer coefficients, negative if subtracted."""


def core(word: Value) -> Value:
    """Return the word without low masks and power-of-two scaling."""
    while isinstance(word, Expr):
        match (word.operation, word.arguments):
            case ("AND", (int(mask), inner)) if _is_low_mask(mask):
                word = inner
            case (("SHL" | "SHR"), (int(), inner)):
                word = inner
            case ("MUL", (int(number), inner)) if is_power_of_two(number):
                word = inner
            case ("DIV", (inner, int(number))) if is_power_of_two(number):
                word = inner
            case ("AND", (int(mask), inner)) if _is_low_mask(mask >> lowest_bit(mask)):
                word = inner
            case _:
                return word
    return word


def reductions(word: Value) -> Iterator[Value]:
    """Yield the word, and what it was made of by masks and right shifts, which only lower it."""
    while True:
        yield word
        match word:
            case Expr(operation="AND", arguments=(int(), inner)):
                word = inner
            case Expr(operation="SHR", arguments=(int(), inner)):
                word = inner
            case Expr(operation="DIV", arguments=(inner, int(number))) if number:
                word = inner
            case _:
                return


class AmountDelta(NamedTuple):
    """The terms that a store adds to a slot and subtracts from it, in the order of the code."""

    added: tuple[Value, ...]
    subtracted: tuple[Value, ...]


def is_unsteady(word: Value) -> bool:
    """True if the expression does not identify the word: it has an operation of `UNSTEADY`."""
    return (
        isinstance(word, Expr)
        and word.changes
        and any(term.operation in UNSTEADY for term in subterms(word))
    )


def delta_of(value: Value, slot: Value) -> AmountDelta | None:
    """Return the stored value minus the slot's old value. None: it is not computed from that."""
    for candidate in _packed_parts(value):
        found = _around(candidate, slot)
        if found is not None:
            return found
    return None


def _around(word: Value, slot: Value) -> AmountDelta | None:
    """Return the terms other than the old value in a chain of additions and subtractions."""
    up: list[Value] = []
    down: list[Value] = []
    for _ in range(_MOST_SUMMANDS):
        word = core(word)
        if not isinstance(word, Expr):
            return None
        if word.operation == "SLOAD":
            return AmountDelta(tuple(up), tuple(down)) if word.arguments[0] == slot else None
        if word.operation not in ("ADD", "SUB"):
            return None
        first, second = word.arguments
        if _builds_on(first, slot):
            (up if word.operation == "ADD" else down).append(second)
            word = first
        elif word.operation == "ADD":
            up.append(first)
            word = second
        else:
            return None
    return None


def _builds_on(word: Value, slot: Value) -> bool:
    for _ in range(_MOST_SUMMANDS):
        word = core(word)
        if not isinstance(word, Expr):
            return False
        if word.operation == "SLOAD":
            return word.arguments[0] == slot
        if word.operation not in ("ADD", "SUB"):
            return False
        first, second = word.arguments
        if word.operation == "ADD" and not _builds_on(first, slot):
            first = second
        word = first
    return False


def change_of(value: Value, slot: Value) -> LinearAmount | None:
    """Return the result of `delta_of` as one linear sum."""
    delta = delta_of(value, slot)
    return None if delta is None else added(plus(delta.added), negated(plus(delta.subtracted)))


def is_at_most(debit: LinearAmount, amount: LinearAmount) -> bool:
    """True if the first sum is the second, or becomes it without masks and right shifts.

    Those only lower its terms.
    """
    for _ in range(_MOST_SUMMANDS):
        if debit == amount:
            return True
        # All of the most wrapped terms at once, so that the result depends on no order of terms.
        wrapped = [([*reductions(term)], count) for term, count in debit - amount if count > 0]
        most = max((len(forms) for forms, _ in wrapped), default=1)
        if most == 1:
            return False
        for (term, whole, *_), count in (each for each in wrapped if len(each[0]) == most):
            longer = frozenset((word, times * count) for word, times in plus([whole]))
            debit = added(debit, negated(frozenset({(term, count)})), longer)
    return False


def is_at_least(required: LinearAmount, taken: LinearAmount) -> bool:
    """True if the first sum is the second, or that and further summands."""
    return all(count > 0 for _, count in added(required, negated(taken)))


def plus(words: Iterable[Value]) -> LinearAmount:
    """Return the linear sum of the words."""
    parts: Counter[Value] = Counter()
    for word in words:
        parts.update(summands(word))
    return total(parts)


def differences_in(
    words: Iterable[Value], meanings: Callable[[Value], Iterable[Value]]
) -> Iterator[tuple[Value, Value]]:
    """Yield minuend and subtrahend of every subtraction in the sums.

    `meanings`: maps a phi to its operands, any other word to itself.
    """
    for word in _terms_of_sums(words, meanings):
        if isinstance(word, Expr) and word.operation == "SUB":
            yield word.arguments[0], word.arguments[1]


def may_wrap(words: Iterable[Value], meanings: Callable[[Value], Iterable[Value]]) -> bool:
    """True if adding one of the words may subtract: it has a complement or a huge constant."""
    for word in _terms_of_sums(words, meanings):
        if isinstance(word, int):
            if word >= _HALF and not _is_low_mask(word):
                return True
        elif word.operation in _SUSPICIOUS:
            return True
    return False


def _terms_of_sums(
    words: Iterable[Value], meanings: Callable[[Value], Iterable[Value]]
) -> Iterator[Value]:
    waiting = list(words)
    seen: set[Value] = set()
    while waiting and len(seen) < _MOST_TERMS:
        for each in meanings(waiting.pop()):
            word = core(each)
            if word in seen:
                continue
            seen.add(word)
            yield word
            if isinstance(word, Expr) and word.operation in _SUMS:
                waiting.extend(word.arguments)


def total(parts: Counter[Value]) -> LinearAmount:
    """Return the linear sum with these coefficients; terms with coefficient 0 are dropped."""
    return frozenset((word, count) for word, count in parts.items() if count)


def negated(change: LinearAmount) -> LinearAmount:
    """Return the negated linear sum."""
    return frozenset((word, -count) for word, count in change)


def added(*changes: LinearAmount) -> LinearAmount:
    """Return the sum of linear sums."""
    parts: Counter[Value] = Counter()
    for change in changes:
        for word, count in change:
            parts[word] += count
    return total(parts)


def _same(word: Value) -> Value:
    return word


def summands(word: Value, bare: Callable[[Value], Value] = _same) -> Counter[Value]:
    """Return the terms of a sum and their coefficients, negative for those subtracted.

    A difference of two unsteady words is one term: equal expressions need not cancel out. `bare`
    replaces words that stand for one other word, such as `DependencyAnalysis.single_value`.
    """
    found: Counter[Value] = Counter()
    waiting = [(word, 1)]
    while waiting and len(found) < _MOST_SUMMANDS:
        each, sign = waiting.pop()
        each = bare(each)
        if isinstance(each, Expr) and each.operation in ("ADD", "SUB"):
            first, second = each.arguments
            if each.operation == "SUB" and is_unsteady(first) and is_unsteady(second):
                found[each] += sign
                continue
            waiting += [(first, sign), (second, sign if each.operation == "ADD" else -sign)]
        elif isinstance(each, Expr) and each.operation == "MUL" and each.arguments[0] == MASK:
            waiting.append((each.arguments[1], -sign))
        elif each != 0:
            found[each] += sign
    return found


def _packed_parts(value: Value) -> Iterator[Value]:
    """Yield the sums and storage reads under the masks and shifts that pack a slot's fields."""
    waiting = [value]
    while waiting:
        word = core(waiting.pop())
        if isinstance(word, Expr):
            if word.operation in ("ADD", "SUB"):
                yield word
            elif word.operation in ("AND", "OR", "SHL"):
                waiting.extend(word.arguments)
            elif word.operation == "SLOAD":
                yield word


def _is_low_mask(mask: int) -> bool:
    return mask.bit_length() >= _NARROWEST_BITS and not mask & (mask + 1)
