"""Decoding of branch conditions: the expression under negations, and selector comparisons."""

from typing import Final

import msgspec

from analysis.static.evm.expressions import FOLDED, Expr, ExprPool, Value, address_in

_MOST_ENTRIES: Final = 512
_WORD_BITS: Final = 256


class TableLookup(msgspec.Struct, frozen=True, kw_only=True):
    """All values of an expression that depends on one small index."""

    index: Expr
    words: tuple[int, ...]
    """Values by index, from 0 on."""


def table_lookup_of(word: Value) -> TableLookup | None:
    """Return all values of an expression. None: it depends on more than one small index."""
    index = word
    while isinstance(index, Expr):
        count = _count(index)
        if count is not None:
            found = [_value(word, index, number) for number in range(count)]
            known = tuple(each for each in found if each is not None)
            return TableLookup(index=index, words=known) if len(known) == len(found) else None
        unknown = [each for each in index.arguments if isinstance(each, Expr)]
        if index.operation not in FOLDED or not unknown:
            return None
        index = unknown[0]
    return None


def _count(term: Expr) -> int | None:
    """Return the number of values, from 0 on, of the expression. None: unknown, or too many."""
    count: int | None = None
    match (term.operation, term.arguments):
        case ("MOD", (_, int(number))):
            count = number
        case ("AND", (int(mask), _)) if not mask & (mask + 1):
            count = mask + 1
        case ("SHR", (int(shift), _)) if shift < _WORD_BITS:
            count = 1 << (_WORD_BITS - shift)
        case ("BYTE", _):
            count = 1 << 8
    return count if count is not None and 0 < count <= _MOST_ENTRIES else None


def _value(word: Value, index: Expr, number: int) -> int | None:
    if word is index:
        return number
    if isinstance(word, int):
        return word
    fold = FOLDED.get(word.operation)
    values = [_value(each, index, number) for each in word.arguments]
    known = [value for value in values if value is not None]
    return fold(*known) if fold is not None and len(known) == len(values) else None


_SELECTOR_SHIFT: Final = 224
_BOOLEAN: Final = frozenset({"EQ", "LT", "GT", "SLT", "SGT", "ISZERO", "success"})
"""Operations whose result is 0 or 1."""

_NEVER_ZERO: Final = frozenset({"CALLER", "ORIGIN", "ADDRESS"})


class DecodedCondition(msgspec.Struct, frozen=True, kw_only=True):
    """A branch condition, decoded."""

    base: Expr
    """The expression under its ISZEROs."""
    when: bool
    """True if the base is non-zero when the condition is; False: when the condition is zero."""
    negation: Value
    """ISZERO of the base."""
    selector: int | None
    """The selector that is compared with. None: not a selector comparison."""
    is_selector_when: bool
    """True if the condition is non-zero when the selector matches."""
    is_address_argument: bool
    """True if the base is an address argument in the head of calldata."""
    decided: bool | None
    """True if the condition holds on every path, False if on none. None: unknown."""
    true: int | None
    """Value of the base where it is not zero. None: more than one is possible."""


class ConditionDecoder:
    """Decodes branch conditions, with a cache."""

    def __init__(self, pool: ExprPool, *, has_blank_words: bool = False) -> None:
        """`has_blank_words`: zeros in the code may be immutables that deployment fills in. A
        subtraction of one folds away, so that no base is surely non-zero."""
        self._pool = pool
        self._never_zero = frozenset[str]() if has_blank_words else _NEVER_ZERO
        self._known: dict[Expr, DecodedCondition] = {}

    def decode(self, condition: Expr) -> DecodedCondition:
        """Return the decoded condition."""
        known = self._known.get(condition)
        if known is None:
            known = self._known[condition] = self._take_apart(condition)
        return known

    def _take_apart(self, condition: Expr) -> DecodedCondition:
        base, when = _without_negations(condition)
        selector = None
        is_selector_when = when
        if base.operation == "EQ":
            selector = self._selector_constant(base)
        elif base.operation == "AND":
            # Vyper checks the selector and the calldata size in one condition
            constants = map(self._selector_constant, filter(_is_equality, base.arguments))
            selector = next((each for each in constants if each is not None), None)
        elif base.operation in ("XOR", "SUB"):
            selector, is_selector_when = self._selector_constant(base), not when
        return DecodedCondition(
            base=base,
            when=when,
            negation=self._pool.build("ISZERO", base),
            selector=selector,
            is_selector_when=is_selector_when,
            is_address_argument=_is_address_argument(base),
            decided=when if base.operation in self._never_zero else None,
            true=1 if base.operation in _BOOLEAN else None,
        )

    def _selector_constant(self, comparison: Value) -> int | None:
        if not isinstance(comparison, Expr):
            return None
        constants = [word for word in comparison.arguments if isinstance(word, int)]
        if len(constants) != 1:
            return None
        if self._pool.selector in comparison.arguments:
            return constants[0]
        if self._pool.selector_high in comparison.arguments:
            return constants[0] >> _SELECTOR_SHIFT
        return None


def _without_negations(condition: Expr) -> tuple[Expr, bool]:
    """Return the expression under the ISZEROs, and True if it is non-zero when the condition is."""
    holds = True
    inner: Value = condition
    while isinstance(inner, Expr) and inner.operation == "ISZERO":
        condition, inner = inner, inner.arguments[0]
        holds = not holds
    return (inner, holds) if isinstance(inner, Expr) else (condition, not holds)


def _is_equality(word: Value) -> bool:
    return isinstance(word, Expr) and word.operation == "EQ"


def _is_address_argument(word: Expr) -> bool:
    """True for an address in the head of calldata; array elements would split too many paths."""
    bare = address_in(word)
    return (
        bare is not word
        and isinstance(bare, Expr)
        and bare.operation == "CALLDATALOAD"
        and isinstance(bare.arguments[0], int)
    )
