"""What a branch asks: the word under its negations, and whether it tells the selector."""

from typing import Final

import msgspec

from analysis.static.evm.expressions import Expr, ExprPool, Value, address_in

_SELECTOR_SHIFT: Final = 224
_BOOLEAN: Final = frozenset({"EQ", "LT", "GT", "SLT", "SGT", "ISZERO", "success"})
"""Terms that are 0 or 1."""

_NEVER_ZERO: Final = frozenset({"CALLER", "ORIGIN", "ADDRESS"})


class DecodedCondition(msgspec.Struct, frozen=True, kw_only=True):
    """One condition, taken apart."""

    base: Expr
    """What is under its ISZEROs."""
    when: bool
    """Whether the base is non-zero when the condition is."""
    negation: Value
    """The base negated."""
    selector: int | None
    """The selector that is asked for. None: something else is."""
    is_selector_when: bool
    """Whether the condition is non-zero when the selector matches."""
    is_address_argument: bool
    """Whether the base is an address as the caller gave it."""
    decided: bool | None
    """Whether the condition surely holds, whatever the path. None: it may or not."""
    true: int | None
    """What the base is where it is not zero. None: that can be many things."""


class ConditionDecoder:
    """Remembers what it has taken apart."""

    def __init__(self, pool: ExprPool, *, has_blank_words: bool = False) -> None:
        """`has_blank_words`: immutables may be left zero, and what is less one of them is that less
        what deployment fills in."""
        self._pool = pool
        self._never_zero = frozenset[str]() if has_blank_words else _NEVER_ZERO
        self._known: dict[Expr, DecodedCondition] = {}

    def decode(self, condition: Expr) -> DecodedCondition:
        """A condition's parts."""
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
            # Vyper asks for the selector and for enough calldata at once
            asked = map(self._selector_constant, filter(_is_equality, base.arguments))
            selector = next((each for each in asked if each is not None), None)
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
    """The term under a condition's ISZEROs, and whether it is non-zero when the condition is."""
    holds = True
    inner: Value = condition
    while isinstance(inner, Expr) and inner.operation == "ISZERO":
        condition, inner = inner, inner.arguments[0]
        holds = not holds
    return (inner, holds) if isinstance(inner, Expr) else (condition, not holds)


def _is_equality(word: Value) -> bool:
    return isinstance(word, Expr) and word.operation == "EQ"


def _is_address_argument(word: Expr) -> bool:
    """In the head of calldata: of a list's elements there are too many to tell paths apart by."""
    bare = address_in(word)
    return (
        bare is not word
        and isinstance(bare, Expr)
        and bare.operation == "CALLDATALOAD"
        and isinstance(bare.arguments[0], int)
    )
