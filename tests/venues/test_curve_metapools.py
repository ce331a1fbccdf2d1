"""Trades of Curve's metapools against the coins behind another pool's token have no event.

They are no pool of the two coins here, and no trade, either way.
"""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.reads import read_address
from assay.demo.seeding import UNLIMITED
from config.facts.chain import Dex
from core.evm.abi import call_data
from core.evm.primitives import Address
from indexer.decode.logs import decode_logs
from indexer.decode.pool_events import PoolDecoder
from indexer.decode.swap_events import TradeColumns, decode_trades
from tests.harness.chain.contexts import judge, with_dexes
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import QUOTE_RAW, SPEND_RAW, Market

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
