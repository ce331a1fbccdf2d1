"""Peculiarities of single pool families, of Solidly-style pools and of Curve metapools."""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.replay.record_pack import record_pack
from analysis.replay.replay_pack import replay_pack
from assay.demo.layout import NATIVE_USD
from assay.demo.reads import read, read_address
from assay.demo.seeding import UNLIMITED
from assay.demo.zoo_token import Animal
from config.facts.chain import Dex
from core.evm.abi import call_data
from core.evm.primitives import Address
from indexer.decode.logs import decode_logs
from indexer.decode.pool_events import PoolDecoder
from indexer.decode.swap_events import TradeColumns, decode_trades
from tests.harness.chain.contexts import judge, with_dexes
from tests.harness.chain.transactions import Chain, revert_reason
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
from tests.harness.venues.further_venues import QUOTE_RAW, SPEND_RAW, Market


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


# --- solidly ------------------------------------------------------------------------------------

ROUTES = "(address,address,bool)[]"

FOR_TOKENS = f"swapExactTokensForTokens(uint256,uint256,{ROUTES},address,uint256)"

METADATA = "(uint256,uint256,uint256,uint256,bool,address,address)"

EXTRA_USDT_RAW = 250_000 * 10**6


def number(chain: Chain, to: Address, signature: str, *values: object) -> int:
    return int(str(read(chain.node, to, signature, *values)[0]))


def stable_pair(chain: Chain) -> Address:
    dollar, tether = (stable.address for stable in chain.world.venues.stables)
    factory = chain.world.venues.solid.factory
    return read_address(chain.node, factory, "getPair(address,address,bool)", dollar, tether, True)


def reserves(chain: Chain, pair: Address) -> tuple[int, int]:
    values = read(chain.node, pair, "getReserves()", returns="(uint256,uint256,uint256)")
    return int(str(values[0])), int(str(values[1]))


def stable_k(first: int, second: int) -> int:
    """x^3*y + y^3*x in exact integers; both stables have six decimals."""
    return first**3 * second + second**3 * first


def trade_stables(chain: Chain, trader: Address, amount_raw: int) -> tuple[int, int]:
    """Sell USDC for USDT; (quoted, paid)."""
    dollar, tether = (stable.address for stable in chain.world.venues.stables)
    router = chain.world.venues.solid.router
    assert router is not None
    quoted = number(chain, stable_pair(chain), "getAmountOut(uint256,address)", amount_raw, dollar)
    before = chain.balance(tether, trader)
    route = [(dollar, tether, True)]
    sent = chain.send(trader, router, FOR_TOKENS, amount_raw, quoted, route, trader, 2**255)
    assert sent.success, revert_reason(sent)
    return quoted, chain.balance(tether, trader) - before


@pytest.mark.parametrize("usd", [1, 999, 100_000, 400_000])
def test_a_stable_swap_pays_its_quote_and_keeps_the_curve(chain: Chain, usd: int) -> None:
    trader = chain.world.traders[0]
    dollar = chain.world.venues.stables[0].address
    router = chain.world.venues.solid.router
    assert router is not None
    chain.approve(dollar, trader, router)
    pair = stable_pair(chain)
    before = stable_k(*reserves(chain, pair))
    quoted, paid = trade_stables(chain, trader, usd * 10**6)
    assert paid == quoted
    assert stable_k(*reserves(chain, pair)) >= before
    if usd < 100_000:
        assert paid == pytest.approx(usd * 10**6, rel=1e-3)  # near balance, one for one


def test_a_volatile_swap_pays_its_quote_and_never_lowers_the_product(chain: Chain) -> None:
    token = chain.world.token("solid_honest")
    pair = token.pool.address
    weth = chain.world.venues.wrapped_native.address
    before = reserves(chain, pair)
    quoted = number(chain, pair, "getAmountOut(uint256,address)", 10**16, weth)
    trader = chain.fresh_account()
    bought = chain.buy(token, trader, 10**16)
    assert bought.token_after == quoted == bought.pool_out
    assert chain.sell(token, trader).success
    after = reserves(chain, pair)
    assert after[0] * after[1] > before[0] * before[1]


def test_a_pair_refuses_to_pay_more_than_it_got(chain: Chain) -> None:
    token = chain.world.token("solid_honest")
    pair, attacker = token.pool.address, chain.fresh_account()
    for amounts in ((1, 0), (0, 1)):
        sent = chain.send(
            attacker, pair, "swap(uint256,uint256,address,bytes)", *amounts, attacker, b""
        )
        assert revert_reason(sent) == "IIA"
    chain.send(token.owner, token.address, "transfer(address,uint256)", pair, 10**6)
    first = int(read_address(chain.node, pair, "token0()") == token.address)
    out = (0, 10**12) if first else (10**12, 0)
    sent = chain.send(attacker, pair, "swap(uint256,uint256,address,bytes)", *out, attacker, b"")
    assert revert_reason(sent) == "K"


def test_the_pair_tells_what_the_family_tells(chain: Chain) -> None:
    pair = stable_pair(chain)
    unit0, unit1, reserve0, reserve1, stable, token0, token1 = read(
        chain.node, pair, "metadata()", returns=METADATA
    )
    assert (unit0, unit1, stable) == (10**6, 10**6, True)
    assert (reserve0, reserve1) == reserves(chain, pair)
    assert {token0, token1} == {one.address for one in chain.world.venues.stables}
    assert read(chain.node, pair, "stable()", returns="(bool)") == (True,)


def test_liquidity_can_be_taken_out_again(chain: Chain) -> None:
    token = chain.place(Animal(key="own", trait="honest", symbol="OWN", venue="solid"))
    pair = token.pool.address
    shares = chain.balance(pair, token.owner)
    before = chain.balance(token.address, token.owner)
    assert chain.transfer(pair, token.owner, pair, shares).success
    assert chain.send(token.owner, pair, "burn(address)", token.owner).success
    taken = chain.balance(token.address, token.owner) - before
    assert taken == pytest.approx(930_000 * 10**18, rel=1e-9)


def test_an_unequal_second_deposit_is_credited_by_its_smaller_side(chain: Chain) -> None:
    trader = chain.world.traders[0]
    dollar, tether = (stable.address for stable in chain.world.venues.stables)
    pair = stable_pair(chain)
    supply = number(chain, pair, "totalSupply()")
    for asset, amount_raw in ((dollar, EXTRA_USDT_RAW), (tether, 2 * EXTRA_USDT_RAW)):
        assert chain.transfer(asset, trader, pair, amount_raw).success
    assert chain.send(trader, pair, "mint(address)", trader).success
    assert chain.balance(pair, trader) == supply // 2


# --- curve metapools ----------------------------------------------------------------------------

_EXCHANGE = "exchange(int128,int128,uint256,uint256)"

_UNDERLYING = "exchange_underlying(int128,int128,uint256,uint256)"

_APPROVE = "approve(address,uint256)"


def place(chain: Chain) -> Market:
    """A token against the token of a base pool of the quote coin, traded through that."""
    opening = further_venues.prepare(chain)
    pipeline, maker, owner = opening.pipeline, opening.maker, opening.owner
    base = pipeline.deploy("CurveBasePool", [opening.quote], sender=maker)
    factory = pipeline.deploy("CurveMetaFactory", sender=maker)
    behind = (opening.token, base, [opening.quote])
    pipeline.call(factory, "open(address,address,address[])", *behind, sender=maker)
    pipeline.flush()
    getter = "find_pool_for_coins(address,address,uint256)"
    pool = read_address(chain.node, factory, getter, opening.token, opening.quote, 0)
    opening.release("HonestToken", pool, spender=pool)
    pipeline.call(opening.quote, _APPROVE, base, UNLIMITED, sender=owner)
    pipeline.call(base, "bring(uint256,uint256)", 0, QUOTE_RAW, sender=owner)
    pipeline.call(base, _APPROVE, pool, UNLIMITED, sender=owner)
    for number in range(2):
        pipeline.call(pool, "fill(uint256,uint256)", number, QUOTE_RAW, sender=owner)
    pipeline.flush()

    def swap_data(_: Address, paid: Address, amount: int) -> tuple[Address, str]:
        numbers = (0, 1) if paid == opening.token else (1, 0)
        return pool, call_data(_UNDERLYING, *numbers, amount, 0)

    return Market(
        dex=Dex(name="Curve", kind="CurveStable", factory=factory, from_block=0),
        token=opening.token,
        quote=opening.quote,
        holder=pool,
        key=pool,
        emitter=pool,
        spender=pool,
        swap_data=swap_data,
    )


def trades_of(chain: Chain, pool: Address) -> TradeColumns:
    log_filter = {"fromBlock": "0x0", "toBlock": "latest", "address": pool}
    logs = msgspec.json.encode(chain.node.rpc("eth_getLogs", log_filter))
    return decode_trades(decode_logs(logs), ())


async def test_a_metapool_is_no_pool_of_the_coins_behind_it(
    chain: Chain, context: ChainContext
) -> None:
    """Though the factory names it for them, and it trades them."""
    market = place(chain)
    trader = chain.fresh_account()
    assert further_venues.buy(chain, market, trader).success
    assert further_venues.sell(chain, market, trader).success
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools == ()


async def test_trades_through_the_other_pool_are_no_trades_of_this_one(chain: Chain) -> None:
    """An exchange against the other pool's token is, in the direction in which it went."""
    market = place(chain)
    log_filter = {"fromBlock": "0x0", "toBlock": "latest", "address": market.dex.factory}
    made = decode_logs(msgspec.json.encode(chain.node.rpc("eth_getLogs", log_filter)))
    assert not PoolDecoder([market.dex], chain_id=1).decode(made).pools
    trader = chain.fresh_account()
    assert further_venues.buy(chain, market, trader).success
    assert further_venues.sell(chain, market, trader).success
    assert len(trades_of(chain, market.holder)) == 0

    assert further_venues.buy(chain, market, trader).success
    paid = SPEND_RAW // 2
    assert chain.send(trader, market.holder, _EXCHANGE, 0, 1, paid, 0).success
    trades = trades_of(chain, market.holder)
    base = read_address(chain.node, market.holder, "coins(uint256)", 1)
    got = chain.balance(base, trader)
    assert 0 < got < paid
    assert (trades.amount0.tolist(), trades.amount1.tolist()) == (
        [pytest.approx(paid)],
        [pytest.approx(-got)],
    )
    chain.approve(base, trader, market.holder)
    assert chain.send(trader, market.holder, _EXCHANGE, 1, 0, got, 0).success
    back = trades_of(chain, market.holder)
    assert [amount > 0 for amount in back.amount0.tolist()] == [True, False]
    assert [amount > 0 for amount in back.amount1.tolist()] == [False, True]
