"""Selection of pools for simulated trades, the row of each outcome, and pools without code here."""

from functools import partial

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.market.liquidity_value import PoolValue
from analysis.market.pool_ranking import PENDING, TradeResult, ValuedPool, pick_traded, pool_rows
from analysis.market.venues.pool import Candidate, PoolState
from analysis.pipeline.chain_context import ChainContext
from analysis.simulation.simulate_v1 import NotSimulated, Outcome, Passed, Refused
from api.formats.native.native import render_native
from api.formats.summary.summary import render_summary
from config.facts.chain import Dex
from config.facts.pool_family import DexKind
from core.evm.primitives import Address, Hash32, HexBytes, RawAmount
from core.report.rows import PoolRow
from tests.harness.chain.contexts import context_with, judge
from tests.harness.chain.transactions import Chain
from tests.harness.external.outside_service import dexscreener_pair, running_market_data

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


# --- unread pools -------------------------------------------------------------------------------

LIQUID_USD = 100.0

MANAGER = Address("0x" + "1f" * 20)

POOL_ID = Hash32("0x" + "ab" * 32)

INFINITY = Dex(name="Infinity", kind="AmmV4", variant="infinity_2", factory=MANAGER)


def known_to_infinity(context: ChainContext) -> ChainContext:
    """The context of a chain that has such an exchange too."""
    dexes = (*context.chain.dexes, INFINITY)
    return ChainContext(
        chain=msgspec.structs.replace(context.chain, dexes=dexes),
        node=context.node,
        index=context.index,
        settings=context.settings,
        now_s=context.now_s,
    )


def row_of(token: Address, quote: Address) -> PoolRow:
    first, second = sorted((token, quote))
    return PoolRow(
        chain_id=1,
        pool_key=HexBytes(POOL_ID),
        pool=MANAGER,
        pool_id=POOL_ID,
        dex=INFINITY.name,
        kind="AmmV4",
        variant=INFINITY.variant,
        factory=MANAGER,
        token0=first,
        token1=second,
        fee=3_000,
        tick_spacing=60,
        stable=None,
        hooks=None,
        block_number=1,
        log_index=0,
    )


@pytest.mark.parametrize("has_other", [True, False])
async def test_a_pool_that_cannot_be_read_is_listed_with_nulls(
    chain: Chain, context: ChainContext, *, has_other: bool
) -> None:
    weth = chain.world.venues.wrapped_native.address
    pair = chain.world.token("honest")
    token = pair.address if has_other else chain.deploy("HonestToken", "Odd", "ODD")
    rows = [row_of(token, weth)]
    if has_other:
        v2 = chain.world.venues.v2
        rows.append(
            msgspec.structs.replace(
                rows[0],
                pool_key=pair.pool.address,
                pool=pair.pool.address,
                pool_id=None,
                dex=v2.name,
                kind=v2.kind,
                variant=None,
                factory=v2.factory,
                tick_spacing=None,
            )
        )
    report = await judge(context_with(known_to_infinity(context), rows=rows), token)
    native = render_native(report, clock=None, liquid_above_usd=LIQUID_USD)
    pool = native.dex[-1]
    assert (pool.pool_id, pool.liquidity_type) == (POOL_ID, "AmmV4")
    assert (pool.liquidity, pool.buy_success, pool.sell_success) == (None, None, None)
    assert (pool.buy_tax, pool.sell_tax) == (None, None)
    assert pool.error_code == "liquidity_unknown"
    assert pool.error_message
    assert "Infinity" in pool.error_message
    assert native.is_liquid is (True if has_other else None)
    assert native.is_in_dex is True
    summary = render_summary(
        report, native, chain="ethereum", address=token, liquid_above_usd=LIQUID_USD
    )
    assert summary.has_enough_liquidity is native.is_liquid
    assert (summary.total_liquidity_usd is None) is not has_other
    assert "no_liquidity" not in summary.verdict_reasons
    assert summary.detected_pool_count == (2 if has_other else 1)


async def test_what_others_tell_of_it_counts(chain: Chain, context: ChainContext) -> None:
    token = chain.deploy("HonestToken", "Odd", "ODD")
    weth = chain.world.venues.wrapped_native.address
    row = row_of(token, weth)
    async with running_market_data() as (service, outside):
        service.says({"pairs": [dexscreener_pair(POOL_ID, token, weth, depth=5, usd="1")]})
        market_context = context_with(known_to_infinity(context), rows=[row], outside=outside)
        report = await judge(market_context, token)
    native = render_native(report, clock=None, liquid_above_usd=LIQUID_USD)
    (pool,) = native.dex
    assert pool.liquidity == pytest.approx(2 * 5 * 3_000)
    assert (pool.buy_success, pool.sell_success) == (None, None)
    assert pool.error_code == "missing_swap_parameters"
    assert native.is_liquid is True
