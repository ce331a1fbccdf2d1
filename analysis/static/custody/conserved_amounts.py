"""Integer bounds of stored amounts: linear sums that a word surely does not exceed, or fall below.

Over integers, not modulo 2^256: a difference counts only if the path has shown that it is not
negative, a sum as a lower bound only if it cannot overflow. An overflowing sum is smaller than its
parts, so upper bounds need no such check. Other words are terms that equal themselves.
"""

from collections.abc import Collection
from typing import Final

from analysis.static.custody.custody_facts import Fact, NotNegative
from analysis.static.dataflow.linear_amounts import (
    LinearAmount,
    added,
    is_unsteady,
    negated,
    reductions,
)
from analysis.static.dataflow.storage_layout import field_of
from analysis.static.evm.expressions import (
    MASK,
    Expr,
    ExprPool,
    Value,
    is_power_of_two,
    lowest_bit,
)

_DEEPEST: Final = 40
_HALF: Final = 2**255
_SUM: Final = "a sum may overflow"
_REST: Final = "a difference may be negative"
ONE: Final = 1
"""Term that stands for constants, with the number as its coefficient."""


class UnboundedError(Exception):
    """The word has no such bound; the text is the reason."""

    def __init__(self, reason: str, difference: tuple[Value, Value] | None = None) -> None:
        """`difference`: minuend and subtrahend of the one that may be negative."""
        super().__init__(reason)
        self.difference = difference


class AmountBounds:
    """Bounds of words where some facts hold."""

    def __init__(self, pool: ExprPool, facts: Collection[Fact]) -> None:
        self._pool = pool
        self._facts = facts
        self._shown = [fact for fact in facts if isinstance(fact, NotNegative)]

    def upper(self, word: Value, depth: int = _DEEPEST) -> LinearAmount:
        """Return a sum that the word does not exceed. Raises UnboundedError."""
        if isinstance(word, int):
            return frozenset({(ONE, word)}) if word else frozenset()
        if depth:
            match (word.operation, word.arguments):
                case ("ADD", (int(number), other)) if number >= _HALF:
                    return self._rest(other, -number & MASK, depth - 1)
                case ("ADD", (one, other)):
                    return added(self.upper(one, depth - 1), self.upper(other, depth - 1))
                case ("SUB", (one, other)):
                    return self._rest(one, other, depth - 1)
                case ("AND", (int(mask), Expr(operation="ADD" | "SUB") as inner)) if is_low(mask):
                    parts = (narrowed(self._pool, part, mask) for part in inner.arguments)
                    return self.upper(self._pool.build(inner.operation, *parts), depth - 1)
        return frozenset({(word, 1)})

    def lower(self, word: Value, depth: int = _DEEPEST) -> LinearAmount:
        """Return a sum that the word does not fall below. Raises UnboundedError."""
        if isinstance(word, int):
            return frozenset({(ONE, word)}) if word else frozenset()
        if depth:
            match (word.operation, word.arguments):
                case ("ADD", (int(number), other)) if number >= _HALF:
                    return added(self.lower(other, depth - 1), frozenset({(ONE, number - 2**256)}))
                case ("ADD", (one, other)):
                    if not self._fits(word, one, other):
                        raise UnboundedError(_SUM)
                    return added(self.lower(one, depth - 1), self.lower(other, depth - 1))
                case ("SUB", (one, other)):
                    less = negated(self.upper(other, depth - 1))
                    return added(self.lower(one, depth - 1), less)
                case ("AND", (int(mask), inner)) if is_low(mask) and self.is_at_least(mask, inner):
                    return self.lower(inner, depth - 1)
        return frozenset({(word, 1)})

    def _rest(self, large: Value, small: Value, depth: int) -> LinearAmount:
        # Compilers subtract a constant from a sum that was meant to be subtracted from one term.
        is_sum = isinstance(large, Expr) and large.operation == "ADD"
        terms = (large, *large.arguments) if isinstance(large, Expr) and is_sum else (large,)
        if not any(self.is_at_least(term, small) for term in terms):
            raise UnboundedError(_REST, (large, small))
        return added(self.upper(large, depth), negated(self.lower(small, depth)))

    def is_at_least(self, large: Value, small: Value) -> bool:
        """True if the second word does not exceed the first."""
        if isinstance(small, int) and isinstance(large, int):
            return small <= large
        if small == 0:
            return True
        if is_unsteady(large) and is_unsteady(small):
            return False
        if small is large or is_share(small, large):
            return True
        forms = set(reductions(small))
        return any(
            fact.subtrahend in forms
            and (fact.minuend == large or large in set(reductions(fact.minuend)))
            for fact in self._shown
        )

    def _fits(self, whole: Expr, one: Value, other: Value) -> bool:
        """True if the sum does not overflow."""
        if _is_half(one) and _is_half(other):
            return True
        inverse = self._pool.build
        return any(
            self.is_at_least(whole, part)
            or self.is_at_least(inverse("NOT", rest), part)
            or self.is_at_least(inverse("SUB", MASK, rest), part)
            for part, rest in ((one, other), (other, one))
            if not isinstance(part, int) or part
        )


def narrowed(pool: ExprPool, word: Value, mask: int) -> Value:
    """Return the low bits of the word, which alone decide on those of a sum or difference."""
    return pool.build("AND", mask, word)


def is_share(small: Value, large: Value) -> bool:
    """True if one word is a fixed share of the other that is at most the whole."""
    for _ in range(_DEEPEST):
        if small is large:
            return True
        match small:
            case Expr(operation="AND", arguments=(int(), inner)):
                small = inner
            case Expr(operation="SHR", arguments=(int(), inner)):
                small = inner
            case Expr(operation="DIV", arguments=(inner, int(number))) if number:
                small = inner
                match inner:
                    case Expr(operation="MUL", arguments=(int(times), whole)) if times <= number:
                        small = whole
            case _:
                return False
    return False


def _is_half(word: Value) -> bool:
    if isinstance(word, int):
        return word < _HALF
    match (word.operation, word.arguments):
        case ("DIV", (_, int(number))):
            return number > 1
        case ("SHR", (int(shift), _)):
            return shift > 0
        case ("AND", (int(mask), _)):
            return mask < _HALF
        case ("DIV", (Expr(operation="MUL"), _)):
            return False
    return False


def is_low(mask: int) -> bool:
    """True if the mask keeps the low bits of a word."""
    return not mask & (mask + 1)


def amount_in(pool: ExprPool, value: Value, bits: int) -> Value | None:
    """Return the amount in a stored word whose balance is in these bits. None: not determined."""
    if bits == MASK:
        return value
    field = field_of(value, bits)
    return None if field is None else narrowed(pool, field, bits >> lowest_bit(bits))


def read_in(word: Value, slot: Value, bits: int) -> Expr | None:
    """Return the storage read if the word is the amount in that slot's bits, unchanged."""
    shift, width = lowest_bit(bits), bits >> lowest_bit(bits)
    while isinstance(word, Expr):
        match (word.operation, word.arguments):
            case ("AND", (int(mask), inner)) if mask & width == width and is_low(mask):
                word = inner
            case ("AND", (int(mask), inner)) if (
                shift and mask & bits == bits and (is_low(mask >> shift) or mask == bits)
            ):
                word = inner
            case ("SHR", (int(number), inner)) if number == shift:
                shift, word = 0, inner
            case ("DIV", (inner, int(number))) if is_power_of_two(number) and (
                number.bit_length() - 1 == shift
            ):
                shift, word = 0, inner
            case ("SLOAD", (place,)):
                return word if place == slot and (shift == 0 or bits == MASK) else None
            case _:
                return None
    return None


def is_not_more(total: LinearAmount) -> bool:
    """True if the sum is surely not positive: each term that is added is taken away as a part of
    which it is a fixed share."""
    rest = dict(total)
    for word, count in sorted(total, key=lambda pair: -pair[1]):
        if count <= 0:
            break
        for other, less in list(rest.items()):
            if less < 0 and _is_part(word, other):
                used = min(rest[word], -less)
                rest[word] -= used
                rest[other] += used
        if rest[word] > 0:
            return False
    return True


def _is_part(word: Value, whole: Value) -> bool:
    return isinstance(word, Expr) and isinstance(whole, Expr) and is_share(word, whole)
