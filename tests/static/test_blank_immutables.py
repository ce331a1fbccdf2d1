"""Compilers leave zeros in place of immutables: conditions on them remain conditions."""

import pytest

from analysis.static.analyse_code import analyse_code
from analysis.static.evm.expression_text import render_condition
from analysis.static.evm.expressions import Expr
from tests.harness.cases.cases import Case, load_cases
from tests.harness.cases.cases_compile import (
    BLANK,
    IMMUTABLE,
    Build,
    builds_of,
    name_of,
    runtime_of,
)

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


_CASES = {case.name: case for case in load_cases()}


def _blank(case: Case, build: Build) -> bytes:
    runtime = runtime_of(case, build)
    assert IMMUTABLE in runtime
    return runtime.replace(IMMUTABLE, BLANK)


def _builds(*names: str) -> list[tuple[Case, Build]]:
    return [(_CASES[name], build) for name in names for build in builds_of(_CASES[name])]


@pytest.mark.parametrize(
    ("case", "build"), _builds("ImmutableOwner", "HashesCompared"), ids=name_of
)
def test_an_owner_that_is_not_filled_in_is_an_owner(case: Case, build: Build) -> None:
    assert analyse_code(_blank(case, build)).findings.has_owner_functionality is True


@pytest.mark.parametrize(("case", "build"), _builds("ImmutableRouter"), ids=name_of)
def test_a_contract_that_is_not_filled_in_is_called(case: Case, build: Build) -> None:
    assert analyse_code(_blank(case, build)).findings.external_call is True


@pytest.mark.parametrize(("case", "build"), _builds("ImmutableImplementation"), ids=name_of)
def test_a_proxy_whose_implementation_is_not_filled_in_is_a_proxy(case: Case, build: Build) -> None:
    assert analyse_code(_blank(case, build)).findings.is_proxy is True
