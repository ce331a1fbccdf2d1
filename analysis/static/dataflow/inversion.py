"""Inversion of expressions: solves `word == target` for the caller or a calldata word.

Solved are chains of ADD, SUB, MUL, AND, SHL, XOR and NOT with one unknown operand each. A mask is
assumed to keep the bits of the target.
"""

from typing import Final

from analysis.static.dataflow.dependencies import CALLERS
from analysis.static.evm.expressions import MASK, Expr, Value

_PEOPLE: Final = CALLERS | {"CALLDATALOAD"}


def solve(word: Value, target: int) -> int | None:
    """Return the address for which the word equals `target`.

    None: not solvable (a hash, several unknown operands), or the word is a number.
    """
    while isinstance(word, Expr) and word.operation not in _PEOPLE:
        undone = _undo(word, target)
        if undone is None:
            return None
        word, target = undone
    return target if isinstance(word, Expr) else None


def _undo(term: Expr, target: int) -> tuple[Expr, int] | None:
    """Return the unknown operand and the value for which the term equals `target`."""
    inner = [word for word in term.arguments if isinstance(word, Expr)]
    numbers = [word for word in term.arguments if isinstance(word, int)]
    if len(inner) != 1:
        return None
    key = numbers[0] if numbers else 0
    undone = {
        "ADD": target - key,
        "MUL": target // key if key and target % key == 0 else None,
        "AND": target,
        "NOT": ~target,
        "SHL": target >> min(key, MASK.bit_length()),
        "SUB": target + key if term.arguments[0] is inner[0] else key - target,
        "XOR": target ^ key,
    }.get(term.operation)
    return None if undone is None else (inner[0], undone & MASK)
