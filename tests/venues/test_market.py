"""Selection of pools for simulated trades, and the row of each outcome."""

from functools import partial

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.market.liquidity_value import PoolValue
from analysis.market.pool_ranking import PENDING, TradeResult, ValuedPool, pick_traded, pool_rows
from analysis.market.venues.pool import Candidate, PoolState
from analysis.simulation.simulate_v1 import NotSimulated, Outcome, Passed, Refused
from config.facts.chain import Dex
from config.facts.pool_family import DexKind
from core.evm.primitives import Address, RawAmount

TOKEN = Address("0x" + "11" * 20)
QUOTE = Address("0x" + "22" * 20)
LIMIT_USD = 100.0


def valued(
    usd: float, *, kind: DexKind = "AmmV2", in_range: int | None = None, number: int = 1
) -> ValuedPool:
    dex = Dex(name="D", kind=kind, factory=Address("0x" + "33" * 20))
    return ValuedPool(
        candidate=Candidate(dex=dex, pool=Address(f"0x{number:040x}"), token=TOKEN, quote=QUOTE),
        state=PoolState(
            token_reserve_raw=RawAmount(1),
            quote_reserve_raw=RawAmount(1),
            in_range_liquidity=in_range,
        ),
        value=PoolValue(liquidity_usd=usd, quote_side_usd=usd / 2),
    )


PASSED, REFUSED = Passed(tax=1.5), Refused(reason="no")
NODE, POOL = NotSimulated(missing="NODE", reason="gone"), NotSimulated(missing="POOL", reason="odd")


@pytest.mark.parametrize(
    ("buy", "sell", "buy_row", "sell_row", "code"),
    [
        (PASSED, PASSED, ("passed", 1.5), ("passed", 1.5), None),
        (PASSED, REFUSED, ("passed", 1.5), ("refused", None), "sell_reverted"),
        (REFUSED, REFUSED, ("refused", None), ("refused", None), "buy_reverted"),
        (REFUSED, POOL, ("refused", None), (None, None), "buy_reverted"),
        (NODE, NODE, (None, None), (None, None), "simulation_unavailable"),
        (POOL, POOL, (None, None), (None, None), "missing_swap_parameters"),
        (PASSED, NODE, ("passed", 1.5), (None, None), "simulation_unavailable"),
    ],
)
def test_an_outcome_is_never_taken_for_another(
    buy: Outcome,
    sell: Outcome,
    buy_row: tuple[str | None, float | None],
    sell_row: tuple[str | None, float | None],
    code: str | None,
) -> None:
    pool = valued(1_000.0)
    trades = {pool.candidate.key: TradeResult(buy=buy, sell=sell)}
    (row,) = pool_rows([pool], trades, min_liquidity_usd=LIMIT_USD)
    assert (row.buy, row.buy_tax) == buy_row
    assert (row.sell, row.sell_tax) == sell_row
    assert row.error_code == code
    assert (row.error_message is None) == (code is None)


@pytest.mark.parametrize(
    ("pool", "code"),
    [
        (valued(100.0), "liquidity_too_low"),
        (valued(0.0), "liquidity_too_low"),
        (valued(100.01), None),
        (valued(1e6, kind="AmmV3", in_range=0), None),
        (valued(1e6, kind="AmmV3", in_range=5), None),
    ],
)
def test_exactly_the_limit_is_not_more_than_it(pool: ValuedPool, code: str | None) -> None:
    (row,) = pool_rows([pool], {}, min_liquidity_usd=LIMIT_USD)
    assert row.error_code == code
    assert row.buy is None
    assert row.sell is None
    picked = pick_traded([pool], at_most=5, min_liquidity_usd=LIMIT_USD)
    assert bool(picked) == (code is None)


def opening(
    *, quote_raw: int, tokens_usd: float, unit_usd: float | None = 0.01, number: int = 1
) -> ValuedPool:
    """Make a concentrated pool of the quote token, and tokens at its opening price."""
    pool = valued(2 * quote_raw * (unit_usd or 0), kind="AmmV3", in_range=0, number=number)
    state = msgspec.structs.replace(pool.state, quote_reserve_raw=RawAmount(quote_raw))
    return msgspec.structs.replace(
        pool, state=state, token_side_usd=tokens_usd, quote_unit_usd=unit_usd
    )


@pytest.mark.parametrize(
    ("pool", "expected"),
    [
        (opening(quote_raw=0, tokens_usd=3_000), 300_000),
        (opening(quote_raw=1, tokens_usd=3_000), 300_000),
        (opening(quote_raw=500_000, tokens_usd=3_000), 500_000),
        (opening(quote_raw=0, tokens_usd=1e30), 5_000_000),
        (opening(quote_raw=7, tokens_usd=3_000, unit_usd=None), 7),
        (valued(1e6), 1),
    ],
)
def test_trades_are_parts_of_what_either_side_comes_to(pool: ValuedPool, expected: int) -> None:
    assert pool.trade_reference_raw == expected


def test_openings_are_traded_only_where_nothing_deeper_is() -> None:
    poor, rich = (
        opening(quote_raw=0, tokens_usd=usd, number=number)
        for number, usd in ((1, 200.0), (2, 900.0))
    )
    dust, deep = opening(quote_raw=0, tokens_usd=LIMIT_USD, number=3), valued(500.0, number=4)
    pick = partial(pick_traded, min_liquidity_usd=LIMIT_USD)
    assert pick([poor, dust, rich], at_most=5) == (rich, poor)
    assert pick([poor, dust, rich], at_most=1) == (rich,)
    assert pick([deep, poor, rich], at_most=5) == (deep,)


@pytest.mark.parametrize(
    ("trade", "expected_usd"),
    [
        (TradeResult(buy=PASSED, sell=REFUSED, absorbed_raw=RawAmount(20_000)), 200.0),
        (TradeResult(buy=REFUSED, sell=REFUSED, absorbed_raw=RawAmount(20_000)), 0.0),
        (TradeResult(buy=PASSED, sell=PASSED, absorbed_raw=None), 0.0),
        (TradeResult(buy=PASSED, sell=PASSED, absorbed_raw=RawAmount(0)), 0.0),
    ],
)
def test_an_opening_is_worth_what_it_was_seen_to_take(
    trade: TradeResult, expected_usd: float
) -> None:
    pool = opening(quote_raw=0, tokens_usd=1e12)
    (row,) = pool_rows([pool], {pool.candidate.key: trade}, min_liquidity_usd=LIMIT_USD)
    assert (row.quote_side_usd, row.liquidity_usd) == (expected_usd, expected_usd)


def test_what_was_asked_takes_nothing_from_a_deep_pool() -> None:
    pool = opening(quote_raw=1_000_000, tokens_usd=5.0)
    trade = TradeResult(buy=PASSED, sell=PASSED, absorbed_raw=RawAmount(20_000))
    (row,) = pool_rows([pool], {pool.candidate.key: trade}, min_liquidity_usd=LIMIT_USD)
    assert (row.quote_side_usd, row.liquidity_usd) == (10_000.0, 20_000.0)


REACH = NotSimulated(missing="LIQUIDITY", reason="none")


@pytest.mark.parametrize(
    ("buy", "sell", "code"),
    [
        (REACH, REACH, "no_in_range_liquidity"),
        (REACH, PASSED, "one_sided_liquidity"),
        (REACH, REFUSED, "one_sided_liquidity"),
        (REFUSED, REACH, "buy_reverted"),
        (REACH, NODE, "one_sided_liquidity"),
    ],
)
def test_liquidity_is_out_of_reach_only_where_both_sides_are(
    buy: Outcome, sell: Outcome, code: str
) -> None:
    pool = valued(1_000.0, kind="AmmV3", in_range=0)
    trades = {pool.candidate.key: TradeResult(buy=buy, sell=sell)}
    (row,) = pool_rows([pool], trades, min_liquidity_usd=LIMIT_USD)
    assert row.error_code == code


def test_running_plays_are_pending() -> None:
    pool = valued(1_000.0)
    (row,) = pool_rows([pool], {pool.candidate.key: PENDING}, min_liquidity_usd=LIMIT_USD)
    assert (row.buy, row.sell, row.error_code) == ("pending", "pending", None)


@given(st.lists(st.floats(0, 1e9), max_size=12), st.integers(1, 6))
def test_the_deepest_pools_are_traded(depths: list[float], at_most: int) -> None:
    pools = [valued(usd, number=number) for number, usd in enumerate(sorted(depths, reverse=True))]
    picked = pick_traded(pools, at_most=at_most, min_liquidity_usd=LIMIT_USD)
    fit = [pool for pool in pools if pool.value.liquidity_usd > LIMIT_USD]
    assert list(picked) == fit[:at_most]
