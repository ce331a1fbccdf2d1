"""Protects Curve's pools, of two coins or more: they are found, worth what they hold, and what the
service says of trades is what then happens, whether the pool books what is ordered or what
arrives."""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.replay.record_pack import record_pack
from analysis.replay.replay_pack import replay_pack
from assay.demo.layout import NATIVE_USD
from tests.harness.chain.contexts import context_with, with_dexes
from tests.harness.chain.token_analysis import judge
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.curve import (
    QUOTE_FIRST,
    THIRD_FIRST,
    TOKEN_FIRST,
    Kind,
    Side,
    _amounts,
    place,
)
from tests.harness.venues.further_venues import QUOTE_RAW


@pytest.mark.parametrize(
    ("contract", "kind", "order", "measures"),
    [
        ("HonestToken", "CurveStable", TOKEN_FIRST, True),
        ("HonestToken", "CurveCrypto", TOKEN_FIRST, True),
        ("HonestToken", "CurveStable", THIRD_FIRST, False),
        ("TransferTaxToken", "CurveStable", QUOTE_FIRST, True),
        ("TransferTaxToken", "CurveCrypto", QUOTE_FIRST, False),
        ("BuyTaxToken", "CurveStable", THIRD_FIRST, True),
        ("SellTaxToken", "CurveStable", TOKEN_FIRST, False),
        ("SellTaxToken", "CurveCrypto", QUOTE_FIRST, True),
        ("SellBlockedToken", "CurveStable", THIRD_FIRST, True),
        ("SellBlockedToken", "CurveCrypto", TOKEN_FIRST, False),
    ],
)
async def test_the_prediction_is_what_then_happens(
    chain: Chain,
    context: ChainContext,
    contract: str,
    kind: Kind,
    order: tuple[Side, ...],
    *,
    measures: bool,
) -> None:
    market = place(chain, contract, kind=kind, order=order, measures=measures)
    await further_venues.assert_foretold(chain, with_dexes(context, (market.dex,)), market)


@pytest.mark.parametrize("kind", ["CurveCrypto", "CurveStable"])
async def test_a_token_that_blocks_another_pool_is_sold_here(
    chain: Chain, context: ChainContext, kind: Kind
) -> None:
    """The honest double: it refuses what goes to a pair of another exchange."""
    elsewhere = chain.world.token("honest").pool.address
    market = place(chain, "SellBlockedToken", kind=kind, pair=elsewhere)
    row = await further_venues.assert_foretold(chain, with_dexes(context, (market.dex,)), market)
    assert row.sell == "passed"


@pytest.mark.parametrize(
    ("kind", "order"),
    [
        ("CurveStable", TOKEN_FIRST),
        ("CurveStable", THIRD_FIRST),
        ("CurveCrypto", QUOTE_FIRST),
    ],
)
async def test_the_follower_reads_the_pool_and_its_trades(
    chain: Chain, context: ChainContext, kind: Kind, order: tuple[Side, ...]
) -> None:
    """And what it read is enough to trade by, but not without the factory's word."""
    market = place(chain, kind=kind, order=order)
    row = further_venues.assert_followed(chain, market)
    market_context = with_dexes(context, (market.dex,))
    report = await judge(context_with(market_context, rows=[row]), market.token)
    assert report.pools is not None
    (pool,) = report.pools
    assert (pool.pool, pool.pool_id) == (row.pool, row.pool_id)
    assert (pool.buy, pool.sell) == ("passed", "passed")
    stranger = msgspec.structs.replace(row, pool=market.dex.factory, pool_key=market.dex.factory)
    report = await judge(context_with(market_context, rows=[stranger]), market.token)
    assert not report.pools


@pytest.mark.parametrize(
    ("kind", "order"), [("CurveStable", THIRD_FIRST), ("CurveCrypto", TOKEN_FIRST)]
)
async def test_the_pool_is_worth_what_it_holds(
    chain: Chain, context: ChainContext, kind: Kind, order: tuple[Side, ...]
) -> None:
    market = place(chain, kind=kind, order=order)
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools is not None
    (row,) = report.pools
    assert row.quote_side_usd == pytest.approx(QUOTE_RAW / 1e18 * NATIVE_USD)
    price_usd = QUOTE_RAW / _amounts(kind)["token"] * NATIVE_USD
    assert row.token_usd == pytest.approx(price_usd, rel=0.002)


async def test_a_recorded_analysis_can_be_replayed(chain: Chain, context: ChainContext) -> None:
    market = place(chain)
    market_context = with_dexes(context, (market.dex,))
    pack = await record_pack(market_context, market.token)
    assert [pool.sell for pool in pack.report.pools or ()] == ["passed"]
    replay = await replay_pack(pack, market_context.node, market_context)
    assert replay.verdict == "equal", replay.reason
