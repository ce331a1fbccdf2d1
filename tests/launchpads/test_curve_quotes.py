"""A curve is worth its quote coin, and is sorted by depth among the token's pools."""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from api.formats.native.native import render_native
from assay.demo.anvil import ETHER
from assay.demo.layout import NATIVE_USD
from core.evm.primitives import ZERO_ADDRESS, Address
from core.report.report import PoolResultRow, Report
from tests.harness.chain.contexts import context_with, judge, with_chain
from tests.harness.chain.transactions import Chain
from tests.harness.external.outside_service import dexscreener_pair, running_market_data
from tests.harness.launchpads.platforms import pad_of

TOKEN_USD = 2.5
"""Price of a quote token that is no anchor, from other sources."""


def context_of(context: ChainContext, curve: str, platform: Address) -> ChainContext:
    """Return the context of a chain whose one platform is this contract."""
    facts = msgspec.structs.replace(context.chain, launchpads=(pad_of(curve, platform),))
    return with_chain(context, facts)


def put(chain: Chain, portal: Address, token: Address, quote: Address, paid: int) -> None:
    """The token is on flap's curve, and so much was paid in."""
    sold, for_pool = 300 * 10**6 * ETHER, 800 * 10**6 * ETHER
    receipt = chain.send(
        chain.world.owner,
        portal,
        "put(address,uint8,uint256,uint256,uint256,address)",
        *(token, 1, paid, sold, for_pool, quote),
    )
    assert receipt.success


def curves_of(report: Report) -> list[PoolResultRow]:
    assert report.pools is not None
    return [pool for pool in report.pools if pool.is_launchpad]


async def judge_with_market(
    chain: Chain, context: ChainContext, token: Address, quote: Address, *, depth_eth: float
) -> Report:
    """Others see one market of the quote token, against the wrapped native coin."""
    async with running_market_data() as (service, outside):
        weth = chain.world.venues.wrapped_native.address
        pair = dexscreener_pair("0x1", quote, weth, depth=depth_eth, usd=str(TOKEN_USD))
        service.says([pair] if depth_eth else [])
        return await judge(context_with(context, outside=outside), token)


@pytest.mark.parametrize("kind", ["native", "wrapped", "stable", "token"])
async def test_a_curve_is_worth_its_quote_coin(
    chain: Chain, context: ChainContext, kind: str
) -> None:
    venues, token = chain.world.venues, chain.deploy("HonestToken", "On Curve", "CURVE")
    quote, paid, expected = {
        "native": (ZERO_ADDRESS, 3 * ETHER, 2 * 3 * NATIVE_USD),
        "wrapped": (venues.wrapped_native.address, 3 * ETHER, 2 * 3 * NATIVE_USD),
        "stable": (venues.stables[0].address, 1_000 * 10**6, 2 * 1_000),
        "token": (chain.world.token("mintable").address, 1_000 * ETHER, 2 * 1_000 * TOKEN_USD),
    }[kind]
    portal = chain.deploy("Portal")
    put(chain, portal, token, quote, paid)
    report = await judge_with_market(
        chain, context_of(context, "curve_b", portal), token, quote, depth_eth=100
    )
    assert report.token.is_launchpad_token is True
    (curve,) = curves_of(report)
    assert (curve.kind, curve.pool, curve.quote) == ("curve_b", portal, quote)
    assert curve.liquidity_usd == pytest.approx(expected)
    assert curve.quote_side_usd == pytest.approx(expected / 2)

    features = render_native(report, clock=None, liquid_above_usd=100.0)
    (shown_pool,) = features.dex
    assert (shown_pool.liquidity_type, shown_pool.is_launchpad) == ("curve_b", True)
    assert shown_pool.liquidity == pytest.approx(expected)
    assert (shown_pool.buy_success, shown_pool.sell_success) == (None, None)
    assert (shown_pool.buy_tax, shown_pool.sell_tax, shown_pool.error_code) == (None, None, None)
    assert (features.cannot_buy, features.is_liquid) == (None, True)


async def test_virtuals_is_worth_what_was_paid_in_of_its_quote_token(
    chain: Chain, context: ChainContext
) -> None:
    token, quote = chain.deploy("HonestToken", "Agent", "AGENT"), chain.world.token("mintable")
    bonding = chain.deploy("Bonding")
    sender = chain.world.owner
    assert chain.send(sender, bonding, "launch(address,address)", token, quote.address).success
    assert chain.send(sender, bonding, "setStage(address,bool,bool)", token, True, False).success
    with_virtuals = context_of(context, "curve_d", bonding)
    (fresh,) = curves_of(
        await judge_with_market(chain, with_virtuals, token, quote.address, depth_eth=100)
    )
    # Its price rests on thousands of coins that nobody paid.
    assert (fresh.liquidity_usd, fresh.error_code) == (0, "liquidity_too_low")
    assert chain.send(
        sender, fresh.pool, "put(uint256,uint256)", 700 * 10**6 * ETHER, 1_500 * ETHER
    ).success
    (curve,) = curves_of(
        await judge_with_market(chain, with_virtuals, token, quote.address, depth_eth=100)
    )
    assert (curve.kind, curve.pool) == ("curve_d", fresh.pool)
    assert curve.liquidity_usd == pytest.approx(2 * 1_500 * TOKEN_USD)


@pytest.mark.parametrize("depth_eth", [0, 1], ids=["nobody tells a price", "a shallow market"])
async def test_a_curve_whose_quote_coin_has_no_price_is_left_out(
    chain: Chain, context: ChainContext, depth_eth: float
) -> None:
    token, quote = chain.deploy("HonestToken", "On Curve", "CURVE"), chain.world.token("mintable")
    portal = chain.deploy("Portal")
    put(chain, portal, token, quote.address, 1_000 * ETHER)
    report = await judge_with_market(
        chain, context_of(context, "curve_b", portal), token, quote.address, depth_eth=depth_eth
    )
    assert report.pools == ()
    assert report.token.is_launchpad_token is True


@pytest.mark.parametrize(("paid_eth", "place"), [(1_000, 0), (1, 1)])
async def test_a_curve_stands_among_the_pools_by_its_depth(
    chain: Chain, context: ChainContext, paid_eth: int, place: int
) -> None:
    token, portal = chain.world.token("honest").address, chain.deploy("Portal")
    put(chain, portal, token, ZERO_ADDRESS, paid_eth * ETHER)
    report = await judge(context_of(context, "curve_b", portal), token)
    assert report.pools is not None
    assert [pool.kind for pool in report.pools].index("curve_b") == place
    assert [pool.ordinal for pool in report.pools] == list(range(len(report.pools)))
    depths = [pool.liquidity_usd for pool in report.pools]
    assert depths == sorted(depths, reverse=True)
    assert {pool.is_launchpad for pool in report.pools if pool.kind != "curve_b"} == {None}
