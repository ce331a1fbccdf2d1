"""Protects pools of bins of PancakeSwap Infinity, entries of a manager whose tokens lie in a vault:
they are found, worth what their bins hold, and what the service says of trades is what then
happens."""

from typing import Literal

import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import NATIVE_USD
from tests.harness.chain.contexts import context_with, with_dexes
from tests.harness.chain.token_analysis import judge
from tests.harness.chain.transactions import Chain
from tests.harness.node.log_limited_node import LogLimitedNode
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW
from tests.harness.venues.infinity_bin import FEE, STEP, Hook, place


@pytest.mark.parametrize(
    ("contract", "blocks", "is_coin"),
    [
        ("HonestToken", "vault", False),
        ("HonestToken", "vault", True),
        ("TransferTaxToken", "vault", True),
        ("BuyTaxToken", "vault", False),
        ("SellTaxToken", "vault", True),
        ("SellBlockedToken", "vault", False),
        # The honest double: nothing is ever sent to the manager.
        ("SellBlockedToken", "manager", True),
    ],
)
async def test_the_prediction_is_what_then_happens(
    chain: Chain,
    context: ChainContext,
    contract: str,
    blocks: Literal["vault", "manager"],
    *,
    is_coin: bool,
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


@pytest.mark.parametrize("bins", [8, 20])
async def test_bins_that_end_are_not_the_tokens_fault(
    chain: Chain, context: ChainContext, *, bins: int
) -> None:
    """The real trade fails too, for want of tokens to buy: that is said, and no refusal, nor for
    the gas of the way through all of them."""
    market = place(chain, token_raw=10**15, bins=bins)
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools is not None
    (row,) = report.pools
    assert not further_venues.buy(chain, market, chain.fresh_account()).success
    assert (row.buy, row.sell) == (None, None)
    assert row.error_code == "missing_swap_parameters"


async def test_a_pool_that_opens_with_tokens_only_is_bought_from(
    chain: Chain, context: ChainContext
) -> None:
    market = place(chain, quote_raw=0)
    await further_venues.assert_foretold(chain, with_dexes(context, (market.dex,)), market)


@pytest.mark.parametrize("is_coin", [False, True])
async def test_the_pool_is_worth_what_its_bins_hold(
    chain: Chain, context: ChainContext, *, is_coin: bool
) -> None:
    market = place(chain, is_coin=is_coin)
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools is not None
    (row,) = report.pools
    assert row.quote_side_usd == pytest.approx(QUOTE_RAW / 1e18 * NATIVE_USD)
    price_usd = QUOTE_RAW / TOKEN_RAW * NATIVE_USD
    assert row.token_usd == pytest.approx(price_usd, rel=STEP / 10_000)


async def test_of_too_many_bins_the_nearest_are_counted(
    chain: Chain, context: ChainContext
) -> None:
    market = place(chain, bins=250, gap=10)
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools is not None
    (row,) = report.pools
    assert row.quote_side_usd is not None
    assert 0.1 < row.quote_side_usd / (QUOTE_RAW / 1e18 * NATIVE_USD) < 1
    assert (row.buy, row.sell) == ("passed", "passed")


@pytest.mark.parametrize("hook", [None, "open"])
async def test_what_the_follower_reads_is_enough_without_logs(
    chain: Chain, context: ChainContext, hook: Hook | None
) -> None:
    market = place(chain, hook=hook)
    row = further_venues.assert_followed(chain, market)
    assert (row.fee, row.tick_spacing, row.hooks is None) == (FEE, STEP, hook is None)
    market_context = with_dexes(context, (market.dex,))
    report = await judge(
        context_with(market_context, rows=[row], node=LogLimitedNode(market_context.node)),
        market.token,
    )
    assert report.pools is not None
    (pool,) = report.pools
    assert (pool.buy, pool.sell) == ("passed", "passed")
