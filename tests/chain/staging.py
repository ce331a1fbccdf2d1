"""Plays one way of trading on stage, as scenarios do, for tests to compare with real trades."""

import secrets

import msgspec

from analysis.market import routers
from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import Swap, TradeRoute
from analysis.reads.node import Node
from analysis.simulation.disguise import Disguise
from analysis.simulation.simulate_v1 import (
    READ_GAS,
    SimBlock,
    SimCall,
    Simulation,
    SimulationResult,
    read_simulation,
)
from config.chains import Chain as ChainFacts
from core.abi import call_data
from core.primitives import ZERO_ADDRESS, Address, BlockRef, Hash32, RawAmount
from demo.anvil import quantity
from demo.layout import ZooToken
from harness.chain.verbs import Chain


class Staged(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a buy and a sale of all that it brought, for the coin."""

    arrived: int
    """Smallest units of the token."""
    coins: int | None
    """Wei that the seller received, by the way's own reading. None: the sale failed."""
    played: SimulationResult


def candidate_of(facts: ChainFacts, token: ZooToken) -> Candidate:
    """The token's pool as the analysis knows it."""
    pool = token.pool
    (dex,) = (dex for dex in facts.dexes if dex.name == pool.dex)
    return Candidate(
        dex=dex,
        pool=pool.address,
        token=token.address,
        quote=pool.quote,
        pool_id=pool.pool_id,
        fee=pool.fee or None,
        tick_spacing=pool.tick_spacing or None,
        stable=pool.stable if pool.kind == "Solid" else None,
        hooks=pool.hooks if pool.hooks != ZERO_ADDRESS else None,
    )


def here(chain: Chain) -> tuple[BlockRef, Disguise]:
    """The newest block, and a scenery like it."""
    block = chain.node.rpc("eth_getBlockByNumber", "latest", False)
    assert isinstance(block, dict)
    ref = BlockRef(
        number=quantity(block["number"]),
        hash=Hash32(block["hash"]),
        parent_hash=Hash32(block["parentHash"]),
        time_s=quantity(block["timestamp"]),
    )
    disguise = Disguise(
        secret=secrets.token_hex(8),
        base_fee_wei=quantity(block["baseFeePerGas"]),
        proposers=(Address(block["miner"]),),
    )
    return ref, disguise


async def read_routers(
    chain: Chain, facts: ChainFacts, node: Node
) -> dict[Address, routers.RouterFacts]:
    """What the venues' routers are."""
    ref, _ = here(chain)
    wrapped = facts.wrapped_native.address
    return {
        router: routers.read(
            await node.batch(routers.requests(router, block=ref.hash)), wrapped=wrapped
        )
        for router in routers.unread(facts, {})
    }


async def trade_for_coins(
    chain: Chain, node: Node, candidate: Candidate, way: TradeRoute, *, paid_wei: int
) -> Staged:
    """A fresh account buys with the coin, and sells all for the coin in a later block."""
    assert way.coin_buy_data is not None
    assert way.coin_sell_data is not None
    assert way.read_coins is not None
    ref, disguise = here(chain)
    trader = disguise.account("trader")
    token, quote = candidate.token, candidate.quote
    buy = Swap(
        candidate=candidate,
        router=way.router,
        trader=trader,
        token_in=quote,
        token_out=token,
        amount_in=RawAmount(paid_wei),
    )
    buying = [
        SimCall(
            label="buy", sender=trader, to=way.router, data=way.coin_buy_data(buy), value=paid_wei
        ),
        _balance(token, trader),
    ]
    bought = await _play(node, ref, disguise, way, [buying], trader)
    arrived = bought["balance"].word
    assert arrived is not None
    sale = msgspec.structs.replace(
        buy, token_in=token, token_out=quote, amount_in=RawAmount(arrived)
    )
    selling = [
        *(
            SimCall(label=f"approve {at}", sender=trader, to=to, data=data)
            for at, (to, data) in enumerate(way.approvals(token, arrived))
        ),
        SimCall(label="sell", sender=trader, to=way.router, data=way.coin_sell_data(sale)),
    ]
    played = await _play(node, ref, disguise, way, [buying, selling], trader)
    sold = played["sell"]
    coins = way.read_coins(sold.logs) if sold.ok else None
    return Staged(arrived=arrived, coins=coins, played=played)


async def _play(
    node: Node,
    ref: BlockRef,
    disguise: Disguise,
    way: TradeRoute,
    blocks: list[list[SimCall]],
    trader: Address,
) -> SimulationResult:
    play = Simulation(
        pin=ref,
        disguise=disguise,
        blocks=tuple(
            SimBlock(number=ref.number + at, time_s=ref.time_s + at, calls=tuple(calls))
            for at, calls in enumerate(blocks, 1)
        ),
        purses={trader: 10**21},
        storage={},
        code={way.router: way.code} if way.code else {},
    )
    (answer,) = await node.batch([play.request()])
    played = read_simulation(play, answer)
    assert isinstance(played, SimulationResult), played
    return played


def _balance(token: Address, owner: Address) -> SimCall:
    data = call_data("balanceOf(address)", owner)
    return SimCall(label="balance", sender=owner, to=token, data=data, gas=READ_GAS)
