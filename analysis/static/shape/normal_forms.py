"""Normal forms of expressions: texts without what differs between two builds of one source.

Left out are constants, storage slots, masks, packing and negations, which differ between compilers
and between copies of a token. Comparisons and sums have their operands in one order.
"""

import hashlib
from typing import Final

from analysis.static.evm.expressions import Expr, Value

_DEEPEST: Final = 4
_MOST_OPERANDS: Final = 6
_LONGEST: Final = 160
"""Characters; a longer text is replaced by its digest, which bounds hostile code."""

_CONSTANT: Final = "#"
_CUT: Final = "*"
_HEAD: Final = 4
_WORD: Final = 32

_WRAPPINGS: Final = frozenset(
    {"AND", "SHL", "SHR", "DIV", "MUL", "ADD", "SUB", "OR", "SIGNEXTEND", "BYTE"}
)
"""Operations with a constant that only move, cut or offset the other operand; of DIV and MUL a
power of two, as packing has it."""
_POWERS: Final = frozenset({"DIV", "MUL"})
_UNARY: Final = frozenset({"ISZERO", "NOT"})
_SORTED: Final = frozenset({"ADD", "MUL", "AND", "OR", "XOR", "EQ"})
_TURNED: Final = {"GT": "lt", "SGT": "lt"}
_ORDERED: Final = {"LT": "lt", "SLT": "lt"}
_EQUAL: Final = frozenset({"EQ", "SUB", "XOR"})
"""Operations that a branch uses as a test of equality."""
_MERGED: Final = frozenset({"phi", "top"})
_LEAVES: Final = frozenset({"memory", "input", "success", "result", "created", "RETURNDATASIZE"})
"""Operations whose operands differ between compilers: places in memory and in code."""


class NormalForms:
    """Normal forms of the expressions of one pool, each computed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Expr, int], str] = {}

    def of(self, word: Value, depth: int = _DEEPEST) -> str:
        """Return the normal form of a value."""
        word = bare(word)
        if isinstance(word, int):
            return _CONSTANT
        if depth == 0:
            return _CUT
        known = self._known.get((word, depth))
        if known is None:
            known = self._known[word, depth] = _short(self._form(word, depth - 1))
        return known

    def of_condition(self, condition: Value) -> str:
        """Return the normal form of what a branch tests, the same for either side."""
        word = _without_zero(condition)
        if isinstance(word, Expr) and word.operation in _EQUAL:
            return _short(self._call("eq", word.arguments, _DEEPEST, is_sorted=True))
        return self.of(word)

    def _form(self, word: Expr, depth: int) -> str:
        name, operands = word.operation, word.arguments
        if name in _MERGED:
            return "~"
        if name in _LEAVES:
            return name
        if name == "CALLDATALOAD":
            return _argument(operands[0])
        if name in _TURNED:
            return self._call(_TURNED[name], operands[::-1], depth)
        if name == "OR":
            return self._packed(operands, depth)
        return self._call(_ORDERED.get(name, name), operands, depth, is_sorted=name in _SORTED)

    def _packed(self, operands: tuple[Value, ...], depth: int) -> str:
        """Return the form of a word put together, without the stored word that it replaces."""
        parts = sorted({self.of(each, depth) for each in operands} - {_CONSTANT})
        written = [part for part in parts if not part.startswith("SLOAD")] or parts
        return written[0] if len(written) == 1 else f"OR({','.join(written)})"

    def _call(
        self, name: str, operands: tuple[Value, ...], depth: int, *, is_sorted: bool = False
    ) -> str:
        parts = [self.of(each, depth) for each in operands[:_MOST_OPERANDS]]
        return f"{name}({','.join(sorted(parts) if is_sorted else parts)})"


def _without_zero(condition: Value) -> Value:
    """Return what a condition compares with zero, which compilers write in many ways; another
    condition without its negations."""
    while isinstance(condition, Expr):
        match (condition.operation, condition.arguments):
            case ("ISZERO", (word,)) | ("EQ", (0, word) | (word, 0)):
                condition = word
            case ("LT", (0, word) | (word, 1)) | ("GT", (word, 0) | (1, word)):
                condition = word
            case _:
                break
    return condition


def bare(word: Value) -> Value:
    """Strip negations, and what masks, moves or offsets a word by a constant."""
    while isinstance(word, Expr):
        operands = word.arguments
        if word.operation in _UNARY:
            word = operands[0]
        elif word.operation in _WRAPPINGS and len(operands) == 2:  # noqa: PLR2004 - two operands
            inner = _wrapped(word.operation, operands[0], operands[1])
            if inner is None:
                break
            word = inner
        else:
            break
    return word


def _wrapped(name: str, first: Value, second: Value) -> Value | None:
    """Return the operand that a constant wraps. None: it does more than that."""
    if name == "DIV":
        return first if isinstance(second, int) and _is_power(second) else None
    if isinstance(first, int):
        return second if name not in _POWERS or _is_power(first) else None
    return first if isinstance(second, int) and name not in _POWERS | {"SHL", "SHR"} else None


def _is_power(number: int) -> bool:
    return number.bit_count() == 1


def _argument(place: Value) -> str:
    if isinstance(place, int) and place >= _HEAD and (place - _HEAD) % _WORD == 0:
        return f"a{(place - _HEAD) // _WORD}"
    return "a"


def _short(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
