"""Protects pools of PancakeSwap Infinity, entries of a manager whose tokens lie in a vault: they
are found, worth what was put into them, and what the service says of trades is what then happens.
"""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import NATIVE_USD
from tests.harness.chain.contexts import context_with, with_dexes
from tests.harness.chain.token_analysis import judge
from tests.harness.chain.transactions import Chain
from tests.harness.node.log_limited_node import LogLimitedNode
from tests.harness.venues import further_venues
from tests.harness.venues.infinity import FEE, SPACING, Blocks, Hook, place


@pytest.mark.parametrize(
    ("contract", "blocks", "is_coin"),
    [
        ("HonestToken", "vault", False),
        ("HonestToken", "vault", True),
        ("TransferTaxToken", "vault", True),
        ("BuyTaxToken", "vault", True),
        ("SellTaxToken", "vault", False),
        ("SellBlockedToken", "vault", False),
        ("SellBlockedToken", "vault", True),
        # The honest double: nothing is ever sent to the manager.
        ("SellBlockedToken", "manager", True),
    ],
)
async def test_the_prediction_is_what_then_happens(
    chain: Chain, context: ChainContext, contract: str, blocks: Blocks, *, is_coin: bool
) -> None:
    market = place(chain, contract, blocks=blocks, is_coin=is_coin)
    await further_venues.assert_foretold(chain, with_dexes(context, (market.dex,)), market)


@pytest.mark.parametrize(("hook", "sale"), [("closed", "refused"), ("open", "passed")])
async def test_a_hook_decides_about_sales(
    chain: Chain, context: ChainContext, hook: Hook, sale: str
) -> None:
    market = place(chain, hook=hook, is_coin=True)
    market_context = with_dexes(context, (market.dex,))
    row = await further_venues.assert_foretold(chain, market_context, market)
    assert row.sell == sale


async def test_the_pool_is_worth_what_was_put_into_it(chain: Chain, context: ChainContext) -> None:
    market = place(chain)
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools is not None
    (row,) = report.pools
    balance = chain.balance(market.quote, market.holder)
    assert row.quote_side_usd == pytest.approx(balance / 1e18 * NATIVE_USD, rel=1e-3)


@pytest.mark.parametrize("hook", [None, "open"])
async def test_what_the_follower_reads_is_enough_without_logs(
    chain: Chain, context: ChainContext, hook: Hook | None
) -> None:
    """Then it is worth at least what is around the price, and traded by its id alone."""
    market = place(chain, hook=hook)
    row = further_venues.assert_followed(chain, market)
    assert (row.fee, row.tick_spacing, row.hooks is None) == (FEE, SPACING, hook is None)
    settings = msgspec.structs.replace(context.settings, min_liquidity_usd=1e-3)
    market_context = with_dexes(msgspec.structs.replace(context, settings=settings), (market.dex,))
    report = await judge(
        context_with(market_context, rows=[row], node=LogLimitedNode(market_context.node)),
        market.token,
    )
    assert report.pools is not None
    (pool,) = report.pools
    held_usd = chain.balance(market.quote, market.holder) / 1e18 * NATIVE_USD
    assert pool.quote_side_usd is not None
    assert 0 < pool.quote_side_usd < held_usd / 100
    assert (pool.buy, pool.sell) == ("passed", "passed")


async def test_the_vault_is_no_large_holder(chain: Chain, context: ChainContext) -> None:
    market = place(chain)
    market_context = with_dexes(context, (market.dex,))
    assert market.holder in market_context.chain.custodians
    report = await judge(market_context, market.token)
    holders = {row.owner: row.amount_raw for row in report.holders}
    assert holders[market.holder] == chain.balance(market.token, market.holder)
