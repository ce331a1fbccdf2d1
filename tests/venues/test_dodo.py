"""Protects DODO's market makers, which trade at a price that is set for them: they are found, worth
what they hold, and what the service says of trades is what then happens."""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import NATIVE_USD
from tests.harness.chain.contexts import context_with, with_dexes
from tests.harness.chain.token_analysis import judge
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.dodo import place
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW


@pytest.mark.parametrize("is_base", [True, False])
@pytest.mark.parametrize(
    "contract",
    ["HonestToken", "TransferTaxToken", "BuyTaxToken", "SellTaxToken", "SellBlockedToken"],
)
async def test_the_prediction_is_what_then_happens(
    chain: Chain, context: ChainContext, contract: str, *, is_base: bool
) -> None:
    market = place(chain, contract, is_base=is_base)
    row = await further_venues.assert_foretold(chain, with_dexes(context, (market.dex,)), market)
    assert (row.sell == "refused") == (contract == "SellBlockedToken")


async def test_a_token_that_blocks_another_pool_is_sold_here(
    chain: Chain, context: ChainContext
) -> None:
    """The honest double: it refuses what goes to a pair of another exchange."""
    market = place(chain, "SellBlockedToken", pair=chain.world.token("honest").pool.address)
    row = await further_venues.assert_foretold(chain, with_dexes(context, (market.dex,)), market)
    assert row.sell == "passed"


async def test_a_pool_that_has_no_token_left_is_not_the_tokens_fault(
    chain: Chain, context: ChainContext
) -> None:
    """The real purchase brings nothing, for want of tokens: that is said, and no refusal."""
    market = place(chain, token_raw=0)
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools is not None
    (row,) = report.pools
    assert not further_venues.buy(chain, market, chain.fresh_account()).success
    assert row.buy is None


@pytest.mark.parametrize("is_base", [True, False])
async def test_the_follower_reads_the_pool_and_its_trades(
    chain: Chain, context: ChainContext, *, is_base: bool
) -> None:
    market = place(chain, is_base=is_base)
    row = further_venues.assert_followed(chain, market)
    market_context = with_dexes(context, (market.dex,))
    report = await judge(context_with(market_context, rows=[row]), market.token)
    assert [(one.pool, one.sell) for one in report.pools or ()] == [(market.key, "passed")]
    stranger = msgspec.structs.replace(row, pool=market.dex.factory, pool_key=market.dex.factory)
    assert not (await judge(context_with(market_context, rows=[stranger]), market.token)).pools


@pytest.mark.parametrize("is_base", [True, False])
async def test_the_pool_is_worth_what_it_holds(
    chain: Chain, context: ChainContext, *, is_base: bool
) -> None:
    market = place(chain, is_base=is_base)
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools is not None
    (row,) = report.pools
    assert row.quote_side_usd == pytest.approx(QUOTE_RAW / 1e18 * NATIVE_USD)
    assert row.token_usd == pytest.approx(QUOTE_RAW / TOKEN_RAW * NATIVE_USD, rel=1e-6)
