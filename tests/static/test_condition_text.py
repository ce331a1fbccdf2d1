"""Conditions as evidence shows them."""

import pytest

from analysis.static.evm.expression_text import render_condition
from analysis.static.evm.expressions import Expr

_CALLER = Expr("CALLER", ())
_OWNER = Expr("AND", ((1 << 160) - 1, Expr("SLOAD", (5,))))
_AMOUNT = Expr("CALLDATALOAD", (36,))


@pytest.mark.parametrize(
    ("condition", "holds", "expected"),
    [
        (Expr("EQ", (_OWNER, _CALLER)), True, "address(storage(5)) == caller"),
        (Expr("EQ", (_OWNER, _CALLER)), False, "address(storage(5)) != caller"),
        (Expr("ISZERO", (Expr("EQ", (_OWNER, _CALLER)),)), True, "address(storage(5)) != caller"),
        (Expr("SUB", (_OWNER, _CALLER)), True, "address(storage(5)) != caller"),
        (Expr("LT", (_AMOUNT, 0x20)), False, "argument 2 >= 0x20"),
        (Expr("GT", (_AMOUNT, Expr("SLOAD", (3,)))), True, "argument 2 > storage(3)"),
        (Expr("AND", (0xFF, Expr("SLOAD", (6,)))), True, "storage(6) & 0xff != 0"),
        (Expr("ISZERO", (Expr("ISZERO", (_AMOUNT,)),)), False, "argument 2 == 0"),
        (
            Expr("LT", (Expr("MUL", (Expr("ADD", (1, _AMOUNT)), 2)), Expr("SLOAD", (3,)))),
            True,
            "(argument 2 + 1) * 2 < storage(3)",
        ),
        (
            Expr("AND", (Expr("LT", (_AMOUNT, 3)), Expr("GT", (_AMOUNT, 1)))),
            True,
            "(argument 2 < 3) & (argument 2 > 1) != 0",
        ),
    ],
)
def test_a_condition_reads_as_it_would_be_written(
    condition: Expr, holds: bool, expected: str
) -> None:
    assert render_condition(condition, holds=holds) == expected
