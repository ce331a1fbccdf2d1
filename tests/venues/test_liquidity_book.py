"""Protects pairs of Liquidity Book, whose tokens lie in bins of one price each: they are found,
worth what they hold, and what the service says of trades is what then happens."""

from math import log

import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import NATIVE_USD
from assay.demo.reads import read
from config.chains import Dex
from core.evm.abi import call_data
from core.evm.primitives import Address
from tests.harness.chain.token_analysis import judge
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW, Market
from tests.liquidity.test_pools import context_with
from tests.venues.test_matrix import with_dexes

STEP = 25
BINS = 20
"""Upwards and downwards: the service's largest buy goes through several."""


def place(
    chain: Chain,
    contract: str = "HonestToken",
    *,
    pair: Address | None = None,
    is_x: bool = True,
    token_raw: int = TOKEN_RAW,
) -> Market:
    """A token and its pair. `pair`: the address it takes for its pool; None: the pair. `is_x`:
    whether the creator named it first."""
    opening = further_venues.prepare(chain)
    pipeline = opening.pipeline
    factory = pipeline.deploy("BookFactory", sender=opening.maker)
    router = pipeline.deploy("BookRouter", sender=opening.maker)
    named = (opening.token, opening.quote) if is_x else (opening.quote, opening.token)
    price = QUOTE_RAW / TOKEN_RAW
    active = 2**23 + round(log(price if is_x else 1 / price) / log(1 + STEP / 10_000))
    pipeline.call(
        *(factory, "createLBPair(address,address,uint24,uint16)", *named, active, STEP),
        sender=opening.maker,
    )
    pipeline.flush()
    types = "(uint16,address,bool,bool)"
    getter = "getLBPairInformation(address,address,uint256)"
    _, found, *_ = read(chain.node, factory, getter, *named, STEP, returns=types)
    book = Address(str(found))
    opening.release(contract, pair or book, spender=book)
    amounts = (token_raw, QUOTE_RAW) if is_x else (QUOTE_RAW, token_raw)
    pipeline.call(book, "fill(uint24,uint256,uint256)", BINS, *amounts, sender=opening.owner)
    pipeline.flush()

    def swap_data(trader: Address, paid: Address, amount: int) -> tuple[Address, str]:
        signature = "swap(address,address,uint256,address)"
        return router, call_data(signature, book, paid, amount, trader)

    return Market(
        dex=Dex(name="Liquidity Book", kind="LiquidityBook", factory=factory, from_block=0),
        token=opening.token,
        quote=opening.quote,
        holder=book,
        key=book,
        emitter=book,
        spender=router,
        swap_data=swap_data,
    )


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
