"""Protects pools in Balancer's vault, of two tokens or more: the index finds them, they are worth
what the vault holds for them, and what the service says of trades is what then happens. The vault
is Balancer's own, as its npm package ships it, or one of ours for what that does not allow."""

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
from tests.harness.venues.balancer import indexed, place
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
@pytest.mark.parametrize("is_own", [False, True], ids=["our vault", "Balancer's"])
async def test_the_prediction_is_what_then_happens(
    chain: Chain,
    context: ChainContext,
    contract: str,
    size: Literal[2, 3],
    blocks: Literal["vault", "pool"],
    *,
    is_own: bool,
) -> None:
    market = place(chain, contract, size=size, blocks=blocks, is_own=is_own)
    row = await further_venues.assert_foretold(chain, indexed(chain, context, market), market)
    assert (row.sell == "refused") == (contract == "SellBlockedToken" and blocks == "vault")


@pytest.mark.parametrize(("size", "is_own"), [(2, False), (3, False), (2, True), (3, True)])
async def test_the_follower_reads_the_pool_and_its_trades(
    chain: Chain, context: ChainContext, size: Literal[2, 3], *, is_own: bool
) -> None:
    market = place(chain, size=size, is_own=is_own)
    row = further_venues.assert_followed(chain, market)
    assert (row.pool, row.pool_id) == (market.dex.factory, market.key)
    stranger = msgspec.structs.replace(row, pool_id=Hash32(market.key[:42] + "5e" * 12))
    market_context = context_with(with_dexes(context, (market.dex,)), rows=[stranger])
    assert not (await judge(market_context, market.token)).pools


async def test_a_pool_that_names_anothers_id_is_not_believed(
    chain: Chain, context: ChainContext
) -> None:
    market = place(chain, pretends=True)
    report = await judge(indexed(chain, context, market), market.token)
    assert not report.pools


@pytest.mark.parametrize(("size", "is_own"), [(2, False), (3, False), (3, True)])
async def test_the_pool_is_worth_what_the_vault_holds_for_it(
    chain: Chain, context: ChainContext, size: Literal[2, 3], *, is_own: bool
) -> None:
    market = place(chain, size=size, is_own=is_own)
    report = await judge(indexed(chain, context, market), market.token)
    assert report.pools is not None
    (row,) = report.pools
    assert row.quote_side_usd == pytest.approx(QUOTE_RAW / 1e18 * NATIVE_USD)
    assert row.token_usd == pytest.approx(QUOTE_RAW / TOKEN_RAW * NATIVE_USD, rel=0.002)
