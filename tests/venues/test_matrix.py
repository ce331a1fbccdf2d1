"""The oracle over every kind of pool: predictions equal the real outcomes of fresh accounts.

Trades go through a foreign router.
"""

from itertools import product

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.anvil import ETHER
from assay.demo.compile import Artifacts
from assay.demo.concentrated import open_concentrated
from assay.demo.layout import FOR_EVER, Sides, ZooToken, positions_of
from assay.demo.seeding import UNLIMITED, fetch_addresses
from assay.demo.trader import sell_call, spender_of
from assay.demo.transaction_pipeline import Pipeline
from assay.demo.zoo_token import Animal
from config.facts.chain import Dex
from core.evm.primitives import ZERO_ADDRESS
from tests.harness.chain.contexts import judge, with_dexes
from tests.harness.chain.trade_oracle import (
    TAX_POINTS,
    assert_pool_agrees,
    pool_of,
    predicted,
    real_trade,
)
from tests.harness.chain.transactions import Chain
from tests.harness.examples import spread
from tests.harness.venues.token_matrix import BEHAVIOURS, CASES, KINDS, animal_of
from tests.harness.venues.uniswap_forks import fork_v2

WITHOUT_ROUTERS = (
    "honest",
    "both_tax",
    "transfer_tax",
    "sell_blocked",
    "dumping",
    "partial_sale",
    "silent_refusal",
)


@pytest.mark.parametrize(("behaviour", "kind"), spread(CASES, one_in=8))
async def test_the_prediction_is_what_then_happens(
    chain: Chain, context: ChainContext, behaviour: str, kind: str
) -> None:
    token = chain.place(animal_of(behaviour, kind))
    trade = BEHAVIOURS[behaviour].trade
    if trade.at_even_block and chain.node.head_number() % 2 == 0:
        chain.mine()
    pool = pool_of(await judge(context, token.address), token)
    real = real_trade(chain, token, spend_usd=trade.spend_usd, is_first=trade.is_first)
    if real.buy_success:
        assert_pool_agrees(pool, real)
        return
    assert (pool.buy, pool.buy_tax) == ("refused", None)
    if pool.sell is not None:
        # Nobody can buy, but an earlier holder of the token may be able to sell.
        sold = chain.sell(token, token.holders[0], 10**token.decimals)
        assert predicted(pool.sell) is sold.success


@pytest.mark.parametrize(("behaviour", "kind"), spread(product(WITHOUT_ROUTERS, KINDS), one_in=6))
async def test_a_venue_without_a_router_is_judged_the_same(
    chain: Chain, context: ChainContext, behaviour: str, kind: str
) -> None:
    token = chain.place(animal_of(behaviour, kind))
    pool = pool_of(await judge(with_dexes(context, without_routers(context)), token.address), token)
    assert_pool_agrees(pool, real_trade(chain, token))


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("behaviour", WITHOUT_ROUTERS)
async def test_a_fork_with_another_fee_and_another_init_code(
    chain: Chain, context: ChainContext, artifacts: Artifacts, behaviour: str, *, is_known: bool
) -> None:
    """Its router is used where it is known; else the fee is found by trying."""
    forked = fork_v2(chain, artifacts)
    context = with_dexes(context, (forked.world.venues.v2,))
    if not is_known:
        context = with_dexes(context, without_routers(context))
    token = forked.place(animal_of(behaviour, "v2"))
    pool = pool_of(await judge(context, token.address), token)
    assert pool.dex == "Fork"
    assert_pool_agrees(pool, real_trade(forked, token))


def without_routers(context: ChainContext) -> tuple[Dex, ...]:
    """The venues as they are where nobody found out more than their factories."""
    return tuple(
        msgspec.structs.replace(dex, router=None, fee_bp=None) for dex in context.chain.dexes
    )


async def test_a_fee_on_the_approval_is_tax_of_the_sale(
    chain: Chain, context: ChainContext
) -> None:
    """An approval leaves less to sell than was bought, so selling all of that fails."""
    token = chain.place(
        Animal(key="approval", trait="", symbol="ODD", contract="ApprovalFeeToken", extra="pair")
    )
    row = pool_of(await judge(context, token.address), token)
    trader, pair = chain.fresh_account(), token.pool.address
    assert chain.buy(token, trader).success
    bought, pair_balance = chain.balance(token.address, trader), chain.balance(token.address, pair)
    assert chain.approve(token.address, trader, spender_of(chain.world.venues, token.pool)).success
    left = chain.balance(token.address, trader)
    sale = sell_call(chain.world.venues, token, trader=trader, token_raw=left)
    assert chain.node.execute(sale.sent_by(trader, gas=3_000_000))["status"] == "0x1"
    received = chain.balance(token.address, pair) - pair_balance
    assert row.sell == "passed"
    assert row.sell_tax == pytest.approx(100 - received * 100 / bought, abs=TAX_POINTS)


async def test_an_algebra_plugin_that_sets_the_fee_and_takes_its_own(
    chain: Chain, context: ChainContext
) -> None:
    """Both are fees of the pool, so neither is tax; the token's own share still is."""
    makers = chain.deploy("FeePluginFactory")
    factory = chain.world.venues.algebra.factory
    setting = "setDefaultPluginFactory(address)"
    assert chain.send(chain.world.deployer, factory, setting, makers).success
    token = chain.place(animal_of("transfer_tax", "algebra"))
    pool = pool_of(await judge(context, token.address), token)
    assert (pool.buy, pool.sell) == ("passed", "passed")
    assert pool.buy_tax == pytest.approx(3)
    assert pool.sell_tax == pytest.approx(3)
    assert_pool_agrees(pool, real_trade(chain, token))


async def test_a_hooks_fee_that_takes_nearly_everything_is_a_tax(
    chain: Chain, context: ChainContext
) -> None:
    hook = chain.world.venues.dynamic_hook
    assert chain.send(chain.world.deployer, hook, "setFee(uint24)", 900_000).success
    token = chain.world.token("v4_dynamic_fee")
    pool = pool_of(await judge(context, token.address), token)
    assert (pool.buy, pool.sell) == ("passed", "passed")
    assert pool.buy_tax == pytest.approx(90)
    assert pool.sell_tax == pytest.approx(90)


async def test_running_out_of_liquidity_is_no_failure(
    chain: Chain, context: ChainContext, artifacts: Artifacts
) -> None:
    """Most of the quote side lies far from the price.

    The largest buy takes all tokens and goes through with a part of its amount.
    """
    token = place_narrow(chain, artifacts)
    row = pool_of(await judge(context, token.address), token)
    assert (row.buy, row.buy_tax, row.sell, row.sell_tax) == ("passed", 0, "passed", 0)
    trader = chain.fresh_account()
    bought = chain.buy(token, trader, 5 * ETHER)
    assert bought.success
    assert bought.pool_quote_in < 5 * ETHER
    sold = chain.sell(token, trader)
    assert sold.success
    assert sold.pool_in == bought.pool_out


def place_narrow(chain: Chain, artifacts: Artifacts) -> ZooToken:
    """An honest token on V3: a coin of each side round the price, and 100 of the quote aside."""
    venues, owner = chain.world.venues, chain.world.owner
    weth, manager = venues.wrapped_native.address, positions_of(venues.v3)
    pipeline = Pipeline(chain.node, artifacts)
    token = pipeline.deploy("HonestToken", "Narrow", "NARROW", sender=owner)
    sides = Sides(token=token, token_raw=ETHER, quote=weth, quote_raw=ETHER, owner=owner)
    pool = open_concentrated(pipeline, venues, "v3", sides, hooks=ZERO_ADDRESS)
    pipeline.call(weth, "deposit()", sender=owner, value_wei=101 * ETHER)
    for asset in (token, weth):
        pipeline.call(asset, "approve(address,uint256)", manager, UNLIMITED, sender=owner)
    # A buy drives the price away from where the quote lies alone.
    aside = (5_400, 6_000) if weth < token else (-6_000, -5_400)
    for (low, high), most in (((-60, 60), ETHER), (aside, 100 * ETHER)):
        pipeline.call(
            manager,
            "mint((address,address,uint24,int24,int24,"
            "uint256,uint256,uint256,uint256,address,uint256))",
            (*sorted((token, weth)), pool.fee, low, high, most, most, 0, 0, owner, FOR_EVER),
            sender=owner,
        )
    pipeline.flush()
    (pool,) = fetch_addresses(chain.node, venues, [(token, pool)])
    like = chain.world.token("v3_honest")
    return msgspec.structs.replace(like, address=token, pool=pool)
