"""Recognition of bounds checks of arrays in memory."""

from typing import Final

from analysis.static.evm.expressions import Expr, Value, without_iszero

_MOST_ELEMENTS: Final = 32


def is_memory_bounds_check(condition: Value) -> bool:
    """True if a small constant index is compared with the length of an array in memory."""
    condition = without_iszero(condition)
    if not isinstance(condition, Expr) or condition.operation not in ("LT", "GT"):
        return False
    index, length = condition.arguments
    if condition.operation == "GT":
        index, length = length, index
    return (
        isinstance(index, int)
        and index < _MOST_ELEMENTS
        and isinstance(length, Expr)
        and length.operation == "memory"
    )
