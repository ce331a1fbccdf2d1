"""Simulates one route of trading, as scenarios do, for tests to compare with real trades."""

import secrets

import msgspec

from analysis.market import routers
from analysis.market.routers import RouterReads
from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import Swap, TradeRoute
from analysis.reads.node import Node
from analysis.reads.read_batch import ReadBatch
from analysis.scenarios.trade.token_calls import balance_call
from analysis.simulation.disguise import Disguise
from analysis.simulation.simulate_v1 import (
    SimCall,
    Simulation,
    SimulationResult,
    read_simulation,
)
from analysis.simulation.simulation_builder import SimulationBuilder
from assay.demo.anvil import quantity
from assay.demo.layout import ZooToken
from config.facts.chain import Chain as ChainFacts
from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef, Hash32, RawAmount
from tests.harness.chain.transactions import Chain


class Staged(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of a buy and of a sale of all its proceeds, for the coin."""

    arrived: int
    """Smallest units of the token."""
    coins: int | None
    """Wei that the seller received, by the route's own reading. None: the sale failed."""


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
    """Read the facts of the venues' routers."""
    ref, _ = here(chain)
    wrapped = facts.wrapped_native.address
    batch = ReadBatch(ref.hash)
    reads = {router: RouterReads(batch, router) for router in routers.unread(facts, {})}
    await batch.send(node)
    return {router: each.read(wrapped=wrapped) for router, each in reads.items()}


async def trade_for_coins(
    chain: Chain, node: Node, candidate: Candidate, route: TradeRoute, *, paid_wei: int
) -> Staged:
    """A fresh account buys with the coin, and sells all for the coin in a later block."""
    assert route.coin_buy_data is not None
    assert route.coin_sell_data is not None
    assert route.read_coins is not None
    ref, disguise = here(chain)
    trader = disguise.account("trader")
    token, quote = candidate.token, candidate.quote
    buy = Swap(
        candidate=candidate,
        router=route.router,
        trader=trader,
        token_in=quote,
        token_out=token,
        amount_in=RawAmount(paid_wei),
    )
    buying = SimCall(
        label="buy",
        sender=trader,
        to=route.router,
        data=route.coin_buy_data(buy),
        value=paid_wei,
    )
    builder = SimulationBuilder([_next(ref, 1)])
    builder[0].add(buying)
    balance = builder[0].add(balance_call(token, trader, "balance"))
    bought = await _run(node, ref, disguise, route, builder, trader)
    arrived = bought.word(balance)
    assert arrived is not None
    sale = msgspec.structs.replace(
        buy, token_in=token, token_out=quote, amount_in=RawAmount(arrived)
    )
    builder = SimulationBuilder([_next(ref, 1), _next(ref, 2)])
    builder[0].add(buying)
    for at, (to, data) in enumerate(route.approvals(token, arrived)):
        builder[1].add(SimCall(label=f"approve {at}", sender=trader, to=to, data=data))
    sell = builder[1].add(
        SimCall(label="sell", sender=trader, to=route.router, data=route.coin_sell_data(sale))
    )
    result = await _run(node, ref, disguise, route, builder, trader)
    sold = result[sell]
    return Staged(arrived=arrived, coins=route.read_coins(sold.logs) if sold.ok else None)


def _next(ref: BlockRef, at: int) -> tuple[int, int]:
    return ref.number + at, ref.time_s + at


async def _run(
    node: Node,
    ref: BlockRef,
    disguise: Disguise,
    route: TradeRoute,
    builder: SimulationBuilder,
    trader: Address,
) -> SimulationResult:
    simulation = Simulation(
        pin=ref,
        disguise=disguise,
        blocks=builder.blocks(),
        purses={trader: 10**21},
        storage={},
        code={route.router: route.code} if route.code else {},
    )
    (answer,) = await node.batch([simulation.request])
    result = read_simulation(simulation, answer)
    assert isinstance(result, SimulationResult), result
    return result
