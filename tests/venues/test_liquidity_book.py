"""Protects pairs of Liquidity Book, whose tokens lie in bins of one price each: they are found,
worth what they hold, and what the service says of trades is what then happens."""

import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import NATIVE_USD
from tests.harness.chain.contexts import context_with, with_dexes
from tests.harness.chain.token_analysis import judge
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW
from tests.harness.venues.liquidity_book import STEP, place


@pytest.mark.parametrize("is_x", [True, False])
@pytest.mark.parametrize(
    "contract",
    ["HonestToken", "TransferTaxToken", "BuyTaxToken", "SellTaxToken", "SellBlockedToken"],
)
async def test_the_prediction_is_what_then_happens(
    chain: Chain, context: ChainContext, contract: str, *, is_x: bool
) -> None:
    market = place(chain, contract, is_x=is_x)
    await further_venues.assert_foretold(chain, with_dexes(context, (market.dex,)), market)


async def test_a_token_that_blocks_another_pool_is_sold_here(
    chain: Chain, context: ChainContext
) -> None:
    """The honest double: it refuses what goes to a pair of another exchange."""
    market = place(chain, "SellBlockedToken", pair=chain.world.token("honest").pool.address)
    await further_venues.assert_foretold(chain, with_dexes(context, (market.dex,)), market)


async def test_bins_that_end_are_not_the_tokens_fault(chain: Chain, context: ChainContext) -> None:
    """The real trade fails too, for want of tokens to buy: that is said, and no refusal."""
    market = place(chain, token_raw=10**15)
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools is not None
    (row,) = report.pools
    assert not further_venues.buy(chain, market, chain.fresh_account()).success
    assert (row.buy, row.sell) == (None, None)
    assert row.error_code == "missing_swap_parameters"


@pytest.mark.parametrize("is_x", [True, False])
async def test_the_follower_reads_the_pair_and_its_trades(
    chain: Chain, context: ChainContext, *, is_x: bool
) -> None:
    market = place(chain, is_x=is_x)
    row = further_venues.assert_followed(chain, market)
    assert (row.token0 == market.token, row.tick_spacing) == (is_x, STEP)
    report = await judge(context_with(with_dexes(context, (market.dex,)), rows=[row]), market.token)
    assert report.pools is not None
    (pool,) = report.pools
    assert (pool.buy, pool.sell) == ("passed", "passed")


@pytest.mark.parametrize("is_x", [True, False])
async def test_the_pair_is_worth_what_it_holds(
    chain: Chain, context: ChainContext, *, is_x: bool
) -> None:
    market = place(chain, is_x=is_x)
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools is not None
    (row,) = report.pools
    balance = chain.balance(market.quote, market.holder)
    assert row.quote_side_usd == pytest.approx(balance / 1e18 * NATIVE_USD)
    price_usd = QUOTE_RAW / TOKEN_RAW * NATIVE_USD
    assert row.token_usd == pytest.approx(price_usd, rel=STEP / 10_000)
