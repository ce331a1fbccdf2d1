"""Protects pools in Balancer V3's vault, which is squared with at the end: the index finds them,
they are worth what the vault holds for them, and what the service says of trades then happens."""

from typing import Literal

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import NATIVE_USD
from core.evm.primitives import Hash32
from tests.harness.chain.contexts import context_with, with_dexes
from tests.harness.chain.token_analysis import judge
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.balancer import indexed
from tests.harness.venues.balancer_v3 import Hook, place
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW


@pytest.mark.parametrize(
    ("contract", "size", "blocks"),
    [
        ("HonestToken", 2, "vault"),
        ("TransferTaxToken", 3, "vault"),
        ("BuyTaxToken", 2, "vault"),
        ("SellTaxToken", 3, "vault"),
        ("SellBlockedToken", 2, "vault"),
        # The honest double: nothing is ever sent to the pool's own contract.
        ("SellBlockedToken", 3, "pool"),
    ],
)
async def test_the_prediction_is_what_then_happens(
    chain: Chain,
    context: ChainContext,
    contract: str,
    size: Literal[2, 3],
    blocks: Literal["vault", "pool"],
) -> None:
    """The vault does not lock again where less arrives than was ordered, so a tax refuses sales."""
    market = place(chain, contract, size=size, blocks=blocks)
    row = await further_venues.assert_foretold(chain, indexed(chain, context, market), market)
    takes_part = contract in ("TransferTaxToken", "SellTaxToken")
    blocked = contract == "SellBlockedToken" and blocks == "vault"
    assert (row.sell == "refused") == (takes_part or blocked)


@pytest.mark.parametrize(
    ("hook", "sell", "sell_tax"),
    [("refuses", "refused", None), ("keeps", "passed", 10), ("refuses another", "passed", 0)],
)
async def test_a_hook_decides_about_sales(
    chain: Chain, context: ChainContext, hook: Hook, sell: str, sell_tax: float | None
) -> None:
    """What it keeps of the other token is a tax, which the vault's event does not show."""
    market = place(chain, hook=hook)
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


@pytest.mark.parametrize("size", [2, 3])
async def test_the_follower_reads_the_pool_and_its_trades(
    chain: Chain, context: ChainContext, size: Literal[2, 3]
) -> None:
    market = place(chain, size=size)
    row = further_venues.assert_followed(chain, market)
    assert (row.pool, row.pool_id) == (market.dex.factory, market.key)
    stranger = msgspec.structs.replace(row, pool_id=Hash32(market.key[:42] + "5e" * 12))
    market_context = context_with(with_dexes(context, (market.dex,)), rows=[stranger])
    assert not (await judge(market_context, market.token)).pools


@pytest.mark.parametrize("size", [2, 3])
async def test_the_pool_is_worth_what_the_vault_holds_for_it(
    chain: Chain, context: ChainContext, size: Literal[2, 3]
) -> None:
    market = place(chain, size=size)
    report = await judge(indexed(chain, context, market), market.token)
    assert report.pools is not None
    (row,) = report.pools
    assert row.quote_side_usd == pytest.approx(QUOTE_RAW / 1e18 * NATIVE_USD)
    assert row.token_usd == pytest.approx(QUOTE_RAW / TOKEN_RAW * NATIVE_USD, rel=0.002)
