"""Recognition of compiler checks: overflow, division by zero, array bounds and cast conditions.

Compilers and SafeMath libraries add these branches. A branch recognised here is no guard that the
token's author intended. The patterns are syntactic: a condition is compared with the expressions
that the same pool holds (a comparison is an overflow check if the matching sum is computed too).
"""

from collections.abc import Iterator
from typing import Final

from analysis.static.dataflow.dependencies import DependencyAnalysis
from analysis.static.evm.expressions import MASK, Expr, ExprPool, Value

_ORDERED: Final = frozenset({"LT", "GT"})
_SIGNED: Final = frozenset({"SLT", "SGT"})
_SUMS: Final = frozenset({"ADD", "SUB"})
_GROWING: Final = frozenset({"ADD", "MUL"})
_DIVISIONS: Final = frozenset({"DIV", "MOD", "SDIV", "SMOD"})
_SIGN: Final = 2**255
_LARGEST_BYTE: Final = 2**8 - 1
_LARGEST_PLAIN: Final = 2**32 - 1
"""From here on, 2^n and 2^n - 1 are type bounds, not token amounts."""


class CompilerChecks:
    """Memoised recogniser of compiler checks among the expressions of one pool."""

    def __init__(self, pool: ExprPool, sources: DependencyAnalysis) -> None:
        self._pool = pool
        self._sources = sources
        self._known: dict[Value, bool] = {}
        self._divisors: set[Value] = set()
        self._arrays: set[Value] = {words[0] for words in pool.hashed.values() if len(words) == 1}
        for term in pool.terms():
            if term.operation in _DIVISIONS:
                self._divisors.add(term.arguments[1])
            elif term.operation == "keccak" and len(term.arguments) == 1:
                self._arrays.add(term.arguments[0])

    def is_check(self, condition: Value) -> bool:
        """True if the condition is a compiler check: of a phi, every symbolic operand is one."""
        known = self._known.get(condition)
        if known is None:
            meanings = [
                term for term in self._sources.phi_values(condition) if isinstance(term, Expr)
            ]
            known = bool(meanings) and all(
                any(map(self._is_one, condition_parts(meaning))) for meaning in meanings
            )
            self._known[condition] = known
        return known

    def is_lowered(self, word: Value) -> bool:
        """True if the code subtracts 1 from the word (from each operand of a phi)."""
        return all(
            self._pool.has("ADD", MASK, each) or self._pool.has("SUB", each, 1)
            for each in self._sources.phi_values(word)
        )

    def is_array(self, slot: object) -> bool:
        """True if the code computes the location of elements of an array declared at this slot."""
        return slot in self._arrays

    def _is_one(self, term: Expr) -> bool:
        # NOT x is zero only for the largest number
        is_signed = term.operation in _SIGNED
        if term in self._divisors or term.operation == "NOT" or is_signed:
            return not is_signed or not any(map(_is_amount, term.arguments))
        if len(term.arguments) != 2:  # noqa: PLR2004 - two operands
            return False
        a, b = term.arguments
        if term.operation == "ADD":
            # the sum is zero if it has overflowed
            return isinstance(a, int) and _is_limit(-a & MASK)
        if term.operation in _ORDERED:
            small, large = (a, b) if term.operation == "LT" else (b, a)
            return self._is_bound(small, large) or self._is_difference(small, large)
        if term.operation in ("EQ", "XOR", "SUB"):
            return any(
                _undoes(one, other)
                or _is_rest(one, other)
                or _is_cast(one, other)
                or self._is_last(one, other)
                or _is_lowest(one)
                for one, other in ((a, b), (b, a))
            )
        return False

    def _is_bound(self, small: Value, large: Value) -> bool:
        """True if the comparison is with the bound of a type, a result or an array."""
        if isinstance(small, int) and isinstance(large, Expr):
            if large.operation == "ADD" and self._is_length(large):
                return True
            is_divisor = small == 0 and large in self._divisors
            is_limit = _is_limit(small) or self._leaves_room(large, small)
            return is_divisor or is_limit or self._runs_over(large, small)
        if isinstance(large, int) and isinstance(small, Expr):
            return _is_limit(large) or _is_complement(small)
        return any(self._is_length(side) or _is_complement(side) for side in (small, large))

    def _runs_over(self, word: Value, last: int) -> bool:
        """True for an overflow check of a narrow sum or product.

        A word is compared with the maximum of a small type, and all its operands are within that
        type.
        """
        if last & (last + 1):
            return False
        term = self._sources.single_value(word)
        parts = term.arguments if isinstance(term, Expr) and term.operation in _GROWING else (word,)
        return all(self._most(part) <= last for part in parts)

    def _leaves_room(self, word: Value, most: int) -> bool:
        """True if `most` is the largest value to which some constant can be added without overflow.

        The constant is one of the code's, the overflow that of an integer type.
        """
        rooms = ((1 << bits) - 1 - most for bits in range(8, 257, 8))
        return any(room > 0 and self._pool.has("ADD", room, word) for room in rooms)

    def _most(self, word: Value) -> int:
        """Return an upper bound of the word; `MASK` if none is known."""
        most = 0
        for each in self._sources.phi_values(word):
            match each:
                case int():
                    most = max(most, each)
                case Expr(operation="AND", arguments=(int(mask), _)):
                    most = max(most, mask)
                case Expr(operation="SHR", arguments=(int(shift), _)):
                    most = max(most, MASK >> shift)
                case _:
                    return MASK
        return most

    def _is_length(self, word: Value) -> bool:
        if not isinstance(word, Expr):
            return False
        if word.operation == "SLOAD":
            return word.arguments[0] in self._arrays
        # memory is allocated for this number of words
        is_sum = word.operation == "ADD" and isinstance(word.arguments[0], int)
        return is_sum and (self._pool.has("SHL", 5, word) or self._pool.has("MUL", 32, word))

    def _is_difference(self, small: Value, large: Value) -> bool:
        """True if `small < large` guards an overflow of a difference or a sum of the two."""
        if small is large:
            return True
        if large == 1 and self._pool.has("ADD", MASK, small):
            return True  # guards small - 1
        return any(
            self._pool.has("SUB", one, other)
            or self._is_sum_with(one, other)
            or self._is_sum_with(other, one)
            for one in (small, _uncast(small))
            for other in (large, _uncast(large))
        )

    def _is_sum_with(self, whole: Value, part: Value) -> bool:
        return (
            isinstance(whole, Expr)
            and whole.operation in _SUMS
            and (part in whole.arguments or self._differ_by_number(whole, part))
        )

    def _is_last(self, number: Value, counter: Value) -> bool:
        """True if `counter` is compared with the maximum of its type because 1 is added to it."""
        return (
            isinstance(number, int)
            and number >= _LARGEST_BYTE
            and self._pool.has("ADD", 1, counter)
            and not number & (number + 1)
        )

    @staticmethod
    def _differ_by_number(one: Expr, other: Value) -> bool:
        return (
            isinstance(other, Expr)
            and other.operation == "ADD"
            and isinstance(other.arguments[0], int)
            and other.arguments[1] in one.arguments
        )


def condition_parts(condition: Value) -> Iterator[Expr]:
    """Yield the condition and its operands under AND, OR and ISZERO."""
    waiting = [condition]
    while waiting:
        term = waiting.pop()
        if isinstance(term, Expr):
            yield term
            if term.operation in ("AND", "OR", "ISZERO"):
                waiting.extend(term.arguments)


def _is_limit(number: int) -> bool:
    """True for 2^n and 2^n - 1, the ends of a type, and numbers that only an overflow reaches."""
    return number >= _LARGEST_PLAIN and (
        not number & (number - 1) or not number & (number + 1) or number > MASK >> 8
    )


def _is_amount(word: Value) -> bool:
    """True for constants that are neither lengths nor ends of a type, as authors compare with."""
    return isinstance(word, int) and _LARGEST_PLAIN < word < _SIGN and not _is_limit(word)


def _uncast(word: Value) -> Value:
    """Return the word without a mask of a type that is wide enough for amounts."""
    match word:
        case Expr(operation="AND", arguments=(int(mask), inner)) if (
            mask > _LARGEST_PLAIN and not mask & (mask + 1)
        ):
            return inner
    return word


def _is_complement(word: Value) -> bool:
    """True for MAX - x and MAX / x: the largest operand for which x does not overflow."""
    if not isinstance(word, Expr):
        return False
    first = word.arguments[0] if word.arguments else None
    if word.operation == "NOT":
        return True
    return word.operation in ("SUB", "DIV") and isinstance(first, int) and _is_limit(first)


def _undoes(a: Value, b: Value) -> bool:
    """True if a is b * x / x: a multiplication overflow check."""
    return (
        isinstance(a, Expr)
        and a.operation in ("DIV", "SDIV")
        and isinstance(a.arguments[0], Expr)
        and a.arguments[0].operation == "MUL"
        and (b in a.arguments[0].arguments or isinstance(b, int))
    )


def _is_rest(a: Value, b: Value) -> bool:
    """True if a is b recomposed from its quotient and remainder."""
    if not isinstance(a, Expr) or a.operation != "ADD":
        return False
    return any(
        isinstance(part, Expr) and part.operation == "MOD" and part.arguments[0] is b
        for part in a.arguments
    )


def _is_lowest(number: Value) -> bool:
    """True for -2^n, the minimum of a signed type, whose negation overflows."""
    if not isinstance(number, int):
        return False
    least = -number & MASK
    return least > _LARGEST_PLAIN and not least & (least - 1) and number >= _SIGN


def _is_cast(a: Value, b: Value) -> bool:
    """True if a is b truncated by a mask, and b was not read from storage.

    A comparison with a constant, or with a stored word, is the author's own condition.
    """
    if not isinstance(a, Expr) or a.operation != "AND" or not isinstance(b, Expr):
        return False
    return b in a.arguments and a is not b and b.operation != "SLOAD"
