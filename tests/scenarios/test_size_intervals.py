"""Protects the sizes that are traded: one in each interval between the boundaries of the code."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.conditions.condition_plan import size_span, trade_sizes
from core.evm.primitives import RawAmount
from tests.harness.conditions.condition_cases import POOL_RAW, Expression, condition, plan

USUAL = [POOL_RAW // (share + 1) for share in (2_300, 110, 23)]
LOW, HIGH = POOL_RAW // 100, POOL_RAW // 26


def sizes(expression: Expression) -> list[int]:
    return [each.value for each in plan(condition(expression, "amount")).sizes]


def between(start: int, end: int) -> Expression:
    return ("LT", ("SUB", "amount", start), end - start)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (LOW, HIGH),
        (POOL_RAW // 60, POOL_RAW // 60 + POOL_RAW // 10**6),
        (POOL_RAW // 1_500, POOL_RAW // 900),
        (POOL_RAW // 22, POOL_RAW // 21),
    ],
    ids=["wide", "narrow", "small", "large"],
)
def test_a_band_of_sizes_is_traded(start: int, end: int) -> None:
    assert any(start <= size < end for size in sizes(between(start, end)))


@pytest.mark.parametrize(
    "expression",
    [
        ("GT", "amount", POOL_RAW // 10),
        ("DIV", ("MUL", "amount", 3), 100),
        ("GT", "amount", ("balance", "from")),
    ],
    ids=["beyond what is traded", "of dust alone", "more than is held"],
)
def test_no_boundary_among_the_sizes_adds_none(expression: Expression) -> None:
    assert not sizes(expression)


def test_a_limit_between_sizes_that_are_traded_anyway_adds_none() -> None:
    assert not sizes(("GT", "amount", POOL_RAW // 60))


def test_more_sizes_than_are_traded_leave_their_conditions_open() -> None:
    step = POOL_RAW // 10_000
    wave = ("ISZERO", ("AND", ("DIV", ("SUB", "amount", POOL_RAW // 90), step), 1))
    found = plan(condition(wave, "amount"))
    assert [why for _, why in found.open] == ["more sizes to play than fit"]


@given(st.lists(st.integers(1, POOL_RAW // 20), max_size=6))
def test_every_interval_is_traded_in(boundaries: list[int]) -> None:
    found = trade_sizes(boundaries, RawAmount(POOL_RAW))
    low, high = size_span(RawAmount(POOL_RAW))
    cuts = [low, *sorted({cut for cut in boundaries if low < cut <= high}), high + 1]
    traded = [*USUAL, *found.sizes]
    for start, end in pairwise(cuts):
        assert not found.is_complete or any(start <= size < end for size in traded)
