"""Protects predictions: they equal real outcomes, with one size in each interval of the code."""

from itertools import pairwise, product

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.conditions.condition_plan import size_span, trade_sizes
from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import World
from assay.demo.zoo import ZOO
from core.errors import TokenRefusedError
from core.evm.primitives import RawAmount
from core.report.report import Report
from tests.harness.chain.contexts import LACKING, Lacking, judge
from tests.harness.chain.trade_oracle import TAX_POINTS, assert_pool_agrees, real_trade
from tests.harness.chain.transactions import Chain
from tests.harness.conditions.condition_cases import POOL_RAW, Expression, condition, plan
from tests.harness.examples import spread

SPENT_USD = {"tiny_transaction": 1}

"""Spending limits of tokens that accept less than thirty dollars."""

REFUSED = {"symbol_burns_gas": "not_a_token", "symbol_reverts": "not_a_token"}

JUDGED = [animal.key for animal in ZOO if animal.key not in REFUSED]

SIMULATED_KINDS = {"AmmV2", "AmmV3", "AmmV4", "Solid", "SolidV3"}

UNTOLD = {
    "calls": {
        # they look at the clock, or at the block's number
        *("cooldown", "timebomb_constant", "timebomb_stored", "evades_clock", "melting"),
        # they call others, which might
        *("dumping", "evades_rich", "evades_round", "proxy_beacon"),
    }
}

"""Tokens unknown to a back end, as stated: one block cannot show dependence on another."""

UNTRADED = {"calls": {"Uniswap V4", "Algebra"}}

"""Exchanges whose swaps a back end cannot observe, as stated."""


@pytest.fixture(params=LACKING)
def back_end(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def context(context: ChainContext, back_end: str) -> ChainContext:
    return msgspec.structs.replace(context, node=Lacking(context.node, LACKING[back_end]))


def assert_nothing_was_learnt(report: Report) -> None:
    assert report.token.is_settled
    row = report.token
    assert (row.transfer_success, row.send_tax, row.receive_tax) == (None, None, None)
    for pool in report.pools or ():
        assert (pool.buy, pool.buy_tax, pool.sell, pool.sell_tax) == (None, None, None, None)
        assert pool.error_code == "simulation_unavailable"


@pytest.mark.parametrize(
    ("back_end", "key"),
    [*product(["simulate"], JUDGED), *spread(product(["traces", "calls"], JUDGED), one_in=6)],
    indirect=["back_end"],
)
async def test_the_prediction_is_what_then_happens(
    chain: Chain, context: ChainContext, back_end: str, key: str
) -> None:
    token = chain.world.token(key)
    report = await judge(context, token.address)
    if key in UNTOLD.get(back_end, ()):
        assert_nothing_was_learnt(report)
        return
    real = real_trade(chain, token, spend_usd=SPENT_USD.get(key, 30))
    row = report.token
    assert row.is_settled
    assert row.transfer_success is real.transfer_success
    assert row.send_tax == pytest.approx(real.send_tax, abs=TAX_POINTS)
    assert row.receive_tax == pytest.approx(real.receive_tax, abs=TAX_POINTS)
    assert report.pools is not None
    (pool,) = report.pools
    assert (pool.pool, pool.kind) == (token.pool.address, token.pool.kind)
    is_untraded = pool.dex in UNTRADED.get(back_end, ())
    if pool.error_code == "liquidity_too_low" or token.pool.kind not in SIMULATED_KINDS:
        is_untraded = True
    if is_untraded:
        assert (pool.buy, pool.sell) == (None, None)
        return
    assert_pool_agrees(pool, real)


@pytest.mark.parametrize(("key", "code"), REFUSED.items())
async def test_what_does_not_answer_as_a_token_is_refused(
    context: ChainContext, demo_world: World, key: str, code: str
) -> None:
    with pytest.raises(TokenRefusedError) as refusal:
        await judge(context, demo_world.token(key).address)
    assert refusal.value.code == code


# --- size intervals -----------------------------------------------------------------------------

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
    assert [why for _, why in found.open] == [
        "it may turn at sizes that were not found",
        "more sizes to play than fit",
    ]


@given(st.lists(st.integers(1, POOL_RAW // 20), max_size=6))
def test_every_interval_is_traded_in(boundaries: list[int]) -> None:
    found = trade_sizes(boundaries, RawAmount(POOL_RAW))
    low, high = size_span(RawAmount(POOL_RAW))
    cuts = [low, *sorted({cut for cut in boundaries if low < cut <= high}), high + 1]
    traded = [*USUAL, *found.sizes]
    for start, end in pairwise(cuts):
        assert not found.is_complete or any(start <= size < end for size in traded)
