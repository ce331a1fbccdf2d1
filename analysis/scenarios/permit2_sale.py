"""Sale through Permit2 and the universal router: simulated where the venue's router may be blocked.

Wallets sell so, and a token may let only that route transfer into its pool. The buyer buys as
usual, approves in the next block, and sells as in `sale`. A sale that passes so counts as a sale,
whatever the outcome through the venue's own router. Sends no request.
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
from core.primitives import Address, RawAmount

VERSION: Final = 1


def write_play(ground: TradeSetup, way: TradeRoute, bought: Bought) -> Simulation | None:
    """Return the simulation. `way`: the route through Permit2. None: there is nothing to sell."""
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
    """Return the outcome of the sale. None: nothing was bought."""
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
