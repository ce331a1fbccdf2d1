"""Which caller, or word of calldata, makes a word a given number."""

from typing import Final

from analysis.static.dataflow.dependencies import CALLERS
from analysis.static.evm.expressions import MASK, Expr, Value

_PEOPLE: Final = CALLERS | {"CALLDATALOAD"}


def solve(word: Value, target: int) -> int | None:
    """Which address makes the word this number. None: not told (a hash, several operands)."""
    while isinstance(word, Expr) and word.operation not in _PEOPLE:
        undone = _undo(word, target)
        if undone is None:
            return None
        word, target = undone
    return target if isinstance(word, Expr) else None


def _undo(term: Expr, target: int) -> tuple[Expr, int] | None:
    """The one unknown operand, and what it must be for the term to be the target."""
    inner = [word for word in term.arguments if isinstance(word, Expr)]
    numbers = [word for word in term.arguments if isinstance(word, int)]
    if len(inner) != 1:
        return None
    key = numbers[0] if numbers else 0
    undone = {
        "ADD": target - key,
        "AND": target,
        "NOT": ~target,
        "SHL": target >> min(key, MASK.bit_length()),
        "SUB": target + key if term.arguments[0] is inner[0] else key - target,
        "XOR": target ^ key,
    }.get(term.operation)
    return None if undone is None else (inner[0], undone & MASK)
