"""Can what was bought be sold through Permit2 and the universal router?

Wallets sell so, and a token may let nobody else move it into its pool. The buyer buys as always,
approves a block later, and sells as the usual seller does. A sale that passes so is a sale,
whatever came of the venue's own router. Pure.
"""

from typing import Final

import msgspec

from analysis.market.venues.trade_route import TradeRoute
from analysis.scenarios.buy import Bought, BuyTry
from analysis.scenarios.sale import read_tries
from analysis.scenarios.trade_setup import (
    UNLIMITED,
    Order,
    TradeSetup,
    buy_calls,
    in_blocks,
    sale_calls,
    staged,
)
from analysis.simulation.simulate_v1 import Outcome, SimCall, Simulation, SimulationResult
from config.primitives import Address, RawAmount

VERSION: Final = 1


def write_play(ground: TradeSetup, way: TradeRoute, bought: Bought) -> Simulation | None:
    """`way`: through Permit2. None: there is nothing to sell."""
    buyer = bought.largest
    if buyer is None or buyer.held is None or not any(buyer.held):
        return None
    trader = ground.buyer(buyer.amount_in)
    other = msgspec.structs.replace(ground, way=way)
    (at_sale, later) = _orders(buyer)
    calls = (
        buy_calls(ground, trader, buyer.amount_in, gas=buyer.gas),
        _approvals(other, trader),
        sale_calls(other, trader, at_sale),
        sale_calls(other, trader, later),
    )
    play = staged(ground, in_blocks(ground.blocks, calls), payers={trader: buyer.amount_in})
    code = {way.router: way.code} if way.code else {}
    return msgspec.structs.replace(play, code={**play.code, **code})


def read_play(
    ground: TradeSetup, way: TradeRoute, bought: Bought, played: SimulationResult
) -> Outcome | None:
    """What came of it. None: nothing was bought."""
    buyer = bought.largest
    if buyer is None:
        return None
    orders = [(order,) for order in _orders(buyer)]
    return read_tries(msgspec.structs.replace(ground, way=way), played, orders)


def _orders(buyer: BuyTry) -> tuple[Order, Order]:
    at_sale, later = buyer.held or (RawAmount(0), RawAmount(0))
    return Order(when="at sale", amount=at_sale), Order(when="later", amount=later)


def _approvals(ground: TradeSetup, trader: Address) -> tuple[SimCall, ...]:
    approvals = ground.way.approvals(ground.candidate.token, UNLIMITED)
    return tuple(
        SimCall(label=f"approval {at}", sender=trader, to=to, data=data)
        for at, (to, data) in enumerate(approvals)
    )
