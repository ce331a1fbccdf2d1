"""Concentrated pools without liquidity at the current price are traded as people trade in them.

A swap crosses to the next tick that has some. An unreachable amount is no refusal.
"""

from itertools import product

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from api.formats.native.native import render_native
from api.formats.native.shapes import NativeFeatures
from assay.demo import concentrated
from assay.demo.anvil import ETHER
from assay.demo.layout import VenueKey, ZooToken
from core.report.report import PoolResultRow, Report
from tests.harness.chain.contexts import LACKING, Lacking, judge
from tests.harness.chain.trade_oracle import assert_pool_agrees, predicted, real_trade
from tests.harness.chain.transactions import Chain
from tests.harness.examples import spread
from tests.harness.node.counting import CountingNode
from tests.harness.venues.range_pools import ASK, BID, DUST, LAUNCH, VENUES, Position, place

LIQUID_USD = 100.0


def native_of(report: Report) -> NativeFeatures:
    return render_native(report, clock=None, liquid_above_usd=LIQUID_USD)


async def pool_of(context: ChainContext, token: ZooToken) -> PoolResultRow:
    report = await judge(context, token.address)
    assert report.pools is not None
    (pool,) = report.pools
    return pool


BEYOND = {"gap": (ASK, BID), "ask": (ASK,), "launch": (LAUNCH,)}
"""Positions that all begin above the price."""


@pytest.mark.parametrize("venue", VENUES)
@pytest.mark.parametrize(
    ("contract", "where"),
    spread(product(["HonestToken", "SellBlockedToken", "BothTaxToken"], BEYOND), one_in=3),
)
async def test_what_lies_beyond_the_price_is_bought_and_sold(
    chain: Chain,
    context: ChainContext,
    venue: VenueKey,
    contract: str,
    where: str,
) -> None:
    token = place(chain, venue, contract, BEYOND[where])
    pool = await pool_of(context, token)
    real = real_trade(chain, token)
    assert real.buy_success
    if contract != "BothTaxToken":  # which only some routers trade
        assert real.sell_success is (contract == "HonestToken")
    assert_pool_agrees(pool, real)


@pytest.mark.parametrize("venue", VENUES)
@pytest.mark.parametrize("contract", ["HonestToken", "SellBlockedToken"])
async def test_where_nothing_is_left_to_buy_holders_sell(
    chain: Chain, context: ChainContext, venue: VenueKey, contract: str
) -> None:
    token = place(chain, venue, contract, (BID,))
    pool = await pool_of(context, token)
    assert not real_trade(chain, token).buy_success
    sold = chain.sell(token, token.holders[0], ETHER)
    assert (pool.buy, pool.buy_tax) == (None, None)
    assert predicted(pool.sell) is sold.success
    assert sold.success is (contract == "HonestToken")
    assert pool.sell_tax == (0 if sold.success else None)
    assert pool.error_code == "one_sided_liquidity"


@pytest.mark.parametrize("venue", [venue for venue in VENUES if venue != "v4"])
@pytest.mark.parametrize("contract", ["HonestToken", "SellBlockedToken"])
async def test_what_nobody_can_reach_is_nobodys_refusal(
    chain: Chain, context: ChainContext, venue: VenueKey, contract: str
) -> None:
    """The pool holds both, sent to it, and has no position."""
    token = place(chain, venue, contract, ())
    weth, owner = chain.world.venues.wrapped_native.address, chain.world.owner
    for asset in (token.address, weth):
        assert chain.transfer(asset, owner, token.pool.address, 50 * ETHER).success
    pool = await pool_of(context, token)
    real = real_trade(chain, token)
    assert not real.buy_success
    assert not chain.sell(token, token.holders[0], ETHER).pool_quote_out
    assert (pool.buy, pool.sell) == (None, None)
    assert pool.error_code == "no_in_range_liquidity"


async def test_a_bitmap_too_long_to_search_leaves_the_answer_open(
    chain: Chain, context: ChainContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the smallest tick spacing no transaction has the gas to find the end of the tokens.

    This is no refusal by the token.
    """
    monkeypatch.setattr(concentrated, "_SLIPSTREAM_SPACING", 1)
    token = place(chain, "slipstream", "HonestToken", (BID,))
    pool = await pool_of(context, token)
    assert not real_trade(chain, token).buy_success
    assert pool.buy is None
    assert pool.sell != "refused"
    assert pool.error_code == "missing_swap_parameters"


@pytest.mark.parametrize("venue", VENUES)
async def test_a_launch_before_its_first_buy_is_liquid(
    chain: Chain, context: ChainContext, venue: VenueKey
) -> None:
    token = place(chain, venue, "HonestToken", (LAUNCH,))
    report = await judge(context, token.address)
    assert native_of(report).is_liquid is True
    assert report.pools is not None
    (pool,) = report.pools
    # Never for the tokens' worth at a price chosen by the pool's opener.
    assert LIQUID_USD < pool.quote_side_usd <= 2 * LIQUID_USD + 0.01
    assert pool.liquidity_usd == pool.quote_side_usd


@pytest.mark.parametrize("venue", [venue for venue in VENUES if venue != "v4"])
async def test_tokens_that_lie_in_a_pool_beside_its_positions_make_nobody_liquid(
    chain: Chain, context: ChainContext, venue: VenueKey
) -> None:
    token = place(chain, venue, "HonestToken", (DUST,))
    owner = chain.world.owner
    assert chain.transfer(token.address, owner, token.pool.address, 500_000 * ETHER).success
    report = await judge(context, token.address)
    assert report.pools is not None
    (pool,) = report.pools
    assert pool.buy == "passed"
    assert pool.quote_side_usd < LIQUID_USD
    assert native_of(report).is_liquid is False


@pytest.mark.parametrize("venue", ["v3", "algebra", "v4"])
async def test_a_limit_on_buys_keeps_no_launch_from_being_liquid(
    chain: Chain, context: ChainContext, venue: VenueKey
) -> None:
    """A buy may cost at most half a dollar; the pool is read without the token."""
    token = place(chain, venue, "TinyTransactionToken", (LAUNCH,), tick=-138_000)
    report = await judge(context, token.address)
    assert report.pools is not None
    (pool,) = report.pools
    assert pool.buy == "passed"
    assert pool.quote_side_usd > LIQUID_USD
    assert native_of(report).is_liquid is True


@pytest.mark.parametrize("back_end", ["traces", "calls"])
@pytest.mark.parametrize("contract", ["HonestToken", "SellBlockedToken"])
@pytest.mark.parametrize("positions", [(ASK, BID), (LAUNCH,)], ids=["gap", "launch"])
async def test_nodes_that_simulate_nothing_come_to_the_same(
    chain: Chain,
    context: ChainContext,
    back_end: str,
    contract: str,
    positions: tuple[Position, ...],
) -> None:
    context = msgspec.structs.replace(context, node=Lacking(context.node, LACKING[back_end]))
    token = place(chain, "v3", contract, positions)
    report = await judge(context, token.address)
    assert report.pools is not None
    (pool,) = report.pools
    assert_pool_agrees(pool, real_trade(chain, token))
    assert native_of(report).is_liquid is True


async def test_asking_a_pool_first_takes_no_round_more(chain: Chain, context: ChainContext) -> None:
    token = place(chain, "v3", "HonestToken", (LAUNCH,))
    node = CountingNode(context.node)
    settings = msgspec.structs.replace(context.settings, liquidity_holders="never")
    context = msgspec.structs.replace(context, node=node, settings=settings)
    await judge(context, token.address)
    assert node.trips == 3


@pytest.mark.parametrize("positions", [(ASK, BID), (LAUNCH,)], ids=["gap", "launch"])
@pytest.mark.parametrize("hook", ["fee_hook", "input_hook", "router_hook"])
async def test_hooks_act_beyond_the_price_too(
    chain: Chain, context: ChainContext, hook: str, positions: tuple[Position, ...]
) -> None:
    hooks = getattr(chain.world.venues, hook)
    token = place(chain, "v4", "HonestToken", positions, hooks=hooks)
    pool = await pool_of(context, token)
    real = real_trade(chain, token)
    assert real.buy_success
    assert real.sell_success
    assert_pool_agrees(pool, real)


async def test_a_launch_that_nobody_can_buy_is_not_liquid(
    chain: Chain, context: ChainContext
) -> None:
    token = place(chain, "v3", "NotOpenedToken", (LAUNCH,))
    report = await judge(context, token.address)
    assert native_of(report).is_liquid is False
    assert report.pools is not None
    assert report.pools[0].buy == "refused"
