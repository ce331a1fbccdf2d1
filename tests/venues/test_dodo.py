"""Protects DODO's market makers, which trade at a price that is set for them: they are found, worth
what they hold, and what the service says of trades is what then happens."""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import NATIVE_USD
from assay.demo.reads import read_address
from config.chains import Dex
from core.evm.abi import call_data
from core.evm.primitives import Address
from tests.harness.chain.token_analysis import judge
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW, Market
from tests.liquidity.test_pools import context_with
from tests.venues.test_matrix import with_dexes

ONE = 10**18


def place(
    chain: Chain,
    contract: str = "HonestToken",
    *,
    is_base: bool = True,
    pair: Address | None = None,
    token_raw: int = TOKEN_RAW,
) -> Market:
    """A token and its pool. `is_base`: whether it is the base token. `pair`: the address that it
    takes for its pool; None: the pool."""
    opening = further_venues.prepare(chain)
    pipeline, maker, owner = opening.pipeline, opening.maker, opening.owner
    factory = pipeline.deploy("DodoFactory", sender=maker)
    router = pipeline.deploy("DodoRouter", sender=maker)
    sides = (opening.token, opening.quote) if is_base else (opening.quote, opening.token)
    amounts = (TOKEN_RAW, QUOTE_RAW) if is_base else (QUOTE_RAW, TOKEN_RAW)
    price = amounts[1] * ONE // amounts[0]
    pipeline.call(factory, "open(address,address,uint256)", *sides, price, sender=maker)
    pipeline.flush()
    pool = read_address(chain.node, factory, "_REGISTRY_(address,address,uint256)", *sides, 0)
    opening.release(contract, pair or pool, spender=router)
    side_amounts = [token_raw if side == opening.token else QUOTE_RAW for side in sides]
    for side, amount in zip(sides, side_amounts, strict=True):
        pipeline.call(side, "transfer(address,uint256)", pool, amount, sender=owner)
    pipeline.call(pool, "sync()", sender=owner)
    pipeline.flush()

    def swap_data(_: Address, paid: Address, amount: int) -> tuple[Address, str]:
        return router, call_data("swap(address,address,uint256)", pool, paid, amount)

    return Market(
        dex=Dex(name="DODO", kind="DodoV2", factory=factory, from_block=0),
        token=opening.token,
        quote=opening.quote,
        holder=pool,
        key=pool,
        emitter=pool,
        spender=router,
        swap_data=swap_data,
    )


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
