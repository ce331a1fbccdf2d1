"""Peculiarities of single pool families.

Ids that a pool may claim, taxes of vault hooks, empty market makers, very many bins, and vaults
among a token's holders.
"""

import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.replay.record_pack import record_pack
from analysis.replay.replay_pack import replay_pack
from assay.demo.layout import NATIVE_USD
from tests.harness.chain.contexts import judge, with_dexes
from tests.harness.chain.transactions import Chain
from tests.harness.venues import (
    balancer,
    balancer_v3,
    curve,
    dodo,
    further_venues,
    infinity,
    infinity_bin,
)
from tests.harness.venues.balancer import indexed
from tests.harness.venues.balancer_v3 import Hook
from tests.harness.venues.further_venues import QUOTE_RAW


async def test_a_pool_that_names_anothers_id_is_not_believed(
    chain: Chain, context: ChainContext
) -> None:
    market = balancer.place(chain, pretends=True)
    report = await judge(indexed(chain, context, market), market.token)
    assert not report.pools


@pytest.mark.parametrize(
    ("hook", "sell", "sell_tax"),
    [("refuses", "refused", None), ("keeps", "passed", 10), ("refuses another", "passed", 0)],
)
async def test_a_vault_hook_decides_about_sales(
    chain: Chain, context: ChainContext, hook: Hook, sell: str, sell_tax: float | None
) -> None:
    """The hook's share of the other token is a tax, which the vault's event does not show."""
    market = balancer_v3.place(chain, hook=hook)
    report = await judge(indexed(chain, context, market), market.token)
    assert report.pools is not None
    (row,) = report.pools
    assert row.buy == "passed"
    assert row.buy_tax == pytest.approx(0, abs=0.01)
    assert row.sell == sell, row.error_message
    assert row.sell_tax == (None if sell_tax is None else pytest.approx(sell_tax, abs=0.01))
    trader = chain.fresh_account()
    assert further_venues.buy(chain, market, trader).success
    assert further_venues.sell(chain, market, trader).success == (sell == "passed")


async def test_a_recorded_analysis_can_be_replayed(chain: Chain, context: ChainContext) -> None:
    market = curve.place(chain)
    market_context = with_dexes(context, (market.dex,))
    pack = await record_pack(market_context, market.token)
    assert [pool.sell for pool in pack.report.pools or ()] == ["passed"]
    replay = await replay_pack(pack, market_context.node, market_context)
    assert replay.verdict == "equal", replay.reason


async def test_a_pool_that_has_no_token_left_is_not_the_tokens_fault(
    chain: Chain, context: ChainContext
) -> None:
    """The real purchase brings nothing without tokens: reported as such, and no refusal."""
    market = dodo.place(chain, token_raw=0)
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools is not None
    (row,) = report.pools
    assert not further_venues.buy(chain, market, chain.fresh_account()).success
    assert row.buy is None


async def test_the_vault_is_no_large_holder(chain: Chain, context: ChainContext) -> None:
    market = infinity.place(chain)
    market_context = with_dexes(context, (market.dex,))
    assert market.holder in market_context.chain.custodians
    report = await judge(market_context, market.token)
    holders = {row.owner: row.amount_raw for row in report.holders}
    assert holders[market.holder] == chain.balance(market.token, market.holder)


async def test_of_too_many_bins_the_nearest_are_counted(
    chain: Chain, context: ChainContext
) -> None:
    market = infinity_bin.place(chain, bins=250, gap=10)
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools is not None
    (row,) = report.pools
    assert row.quote_side_usd is not None
    assert 0.1 < row.quote_side_usd / (QUOTE_RAW / 1e18 * NATIVE_USD) < 1
    assert (row.buy, row.sell) == ("passed", "passed")
