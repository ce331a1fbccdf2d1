"""Protects pools in Balancer V3's vault, which is squared with at the end: the index finds them,
they are worth what the vault holds for them, and what the service says of trades then happens."""

from typing import Literal

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import NATIVE_USD
from assay.demo.seeding import UNLIMITED
from config.chains import Dex
from core.evm.abi import call_data
from core.evm.coin_pairs import token_pair_id
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32
from tests.harness.chain.token_analysis import judge
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW, Market
from tests.liquidity.test_pools import context_with
from tests.venues.test_balancer import indexed
from tests.venues.test_matrix import with_dexes

Hook = Literal["refuses", "keeps", "refuses another"]


def place(
    chain: Chain,
    contract: str = "HonestToken",
    *,
    size: Literal[2, 3] = 2,
    blocks: Literal["vault", "pool"] = "vault",
    hook: Hook | None = None,
) -> Market:
    """A token and its pool. `blocks`: what the token takes for its pool. `hook`: what it does with
    sales of the token, or with what is paid in another one."""
    opening = further_venues.prepare(chain)
    pipeline, maker, owner = opening.pipeline, opening.maker, opening.owner
    third = pipeline.deploy("HonestToken", "Third", "THR", sender=maker)
    vault = pipeline.deploy("BalancerV3Vault", sender=maker)
    router = pipeline.deploy("BalancerV3Router", vault, sender=maker)
    pool = pipeline.deploy("BalancerV3Pool", sender=maker)
    hooks = ZERO_ADDRESS
    if hook is not None:
        watched = third if hook == "refuses another" else opening.token
        hooks = pipeline.deploy("BalancerV3Hook", watched, hook != "keeps", sender=maker)
    tokens = sorted([opening.token, opening.quote, *([third] if size == 3 else [])])
    registered = (vault, "registerPool(address,address[],address)", pool, tokens, hooks)
    pipeline.call(*registered, sender=maker)
    pipeline.flush()
    opening.release(contract, {"vault": vault, "pool": pool}[blocks], spender=vault)
    pipeline.call(third, "approve(address,uint256)", vault, UNLIMITED, sender=maker)
    amounts = {opening.token: TOKEN_RAW, opening.quote: QUOTE_RAW, third: QUOTE_RAW}
    for token in tokens:
        sender = maker if token == third else owner
        fill = (vault, "fill(address,address,uint256)", pool, token, amounts[token])
        pipeline.call(*fill, sender=sender)
    pipeline.flush()

    def swap_data(_: Address, paid: Address, amount: int) -> tuple[Address, str]:
        bought = opening.quote if paid == opening.token else opening.token
        signature = "swapSingleTokenExactIn(address,address,address,uint256)"
        return router, call_data(signature, pool, paid, bought, amount)

    sides = (bytes.fromhex(side[2:]) for side in (opening.token, opening.quote))
    return Market(
        dex=Dex(name="Balancer V3", kind="BalancerV3", factory=vault, vault=vault, from_block=0),
        token=opening.token,
        quote=opening.quote,
        holder=vault,
        key=Hash32("0x" + token_pair_id(bytes.fromhex(pool[2:]), *sides).hex()),
        emitter=vault,
        spender=router,
        swap_data=swap_data,
    )


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
