"""Protects trades in Solidly V3's pools, which wallets call themselves: what the service says of
them is what then happens, also where the pool does not notice what a token keeps."""

import pytest

from analysis.pipeline.chain_context import ChainContext
from tests.harness.chain.contexts import with_dexes
from tests.harness.chain.token_analysis import judge
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.solidly_v3 import SPACING, place


@pytest.mark.parametrize(
    "contract",
    ["HonestToken", "TransferTaxToken", "BuyTaxToken", "SellTaxToken", "SellBlockedToken"],
)
async def test_the_prediction_is_what_then_happens(
    chain: Chain, context: ChainContext, contract: str
) -> None:
    market = place(chain, contract)
    await further_venues.assert_foretold(chain, with_dexes(context, (market.dex,)), market)


async def test_a_token_that_blocks_another_pool_is_sold_here(
    chain: Chain, context: ChainContext
) -> None:
    """The honest double: it refuses what goes to a pair of another exchange."""
    market = place(chain, "SellBlockedToken", pair=chain.world.token("honest").pool.address)
    await further_venues.assert_foretold(chain, with_dexes(context, (market.dex,)), market)


def test_the_follower_reads_the_pool_and_its_trades(chain: Chain) -> None:
    row = further_venues.assert_followed(chain, place(chain, "HonestToken"))
    assert (row.tick_spacing, row.variant) == (SPACING, "solidly_v3")


async def test_the_pool_is_worth_what_it_holds(chain: Chain, context: ChainContext) -> None:
    market = place(chain, "HonestToken")
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools is not None
    (row,) = report.pools
    balance = chain.balance(market.quote, market.holder)
    assert row.quote_side_usd == pytest.approx(balance / 1e18 * 3_000)
