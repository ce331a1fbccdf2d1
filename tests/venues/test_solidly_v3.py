"""Protects trades in Solidly V3's pools, which wallets call themselves: what the service says of
them is what then happens, also where the pool does not notice what a token keeps."""

import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.reads import read_address
from config.chains import Dex
from core.evm.abi import call_data
from core.evm.primitives import Address
from tests.harness.chain.token_analysis import judge
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import Market
from tests.venues.test_matrix import with_dexes

SPACING, FEE = 50, 500
OUTERMOST = 887_250
LOWEST, HIGHEST = 4_295_128_740, 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341


def place(chain: Chain, contract: str, *, pair: Address | None = None) -> Market:
    """A token and its pool. `pair`: the address it takes for its pool; None: the pool."""
    opening = further_venues.prepare(chain)
    pipeline, (tokens, _) = opening.pipeline, opening.sides
    factory = pipeline.deploy("SolidlyV3Factory", sender=opening.maker)
    pipeline.call(
        *(factory, "open(address,address,int24,uint24,uint160)", *tokens, SPACING, FEE),
        opening.price,
        sender=opening.maker,
    )
    pipeline.flush()
    pool = read_address(chain.node, factory, "getPool(address,address,int24)", *tokens, SPACING)
    opening.release(contract, pair or pool, spender=pool)
    pipeline.call(
        *(pool, "mint(address,int24,int24,uint128)", opening.owner, -OUTERMOST, OUTERMOST),
        opening.liquidity,
        sender=opening.owner,
    )
    pipeline.flush()

    def swap_data(trader: Address, paid: Address, amount: int) -> tuple[Address, str]:
        upwards = paid == tokens[0]
        limit = LOWEST if upwards else HIGHEST
        return pool, call_data("swap(address,bool,int256,uint160)", trader, upwards, amount, limit)

    return Market(
        dex=Dex(
            name="Solidly V3", kind="AmmV3", variant="solidly_v3", factory=factory, from_block=0
        ),
        token=opening.token,
        quote=opening.quote,
        holder=pool,
        key=pool,
        emitter=pool,
        spender=pool,
        swap_data=swap_data,
    )


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
