"""Sale through Permit2 and the universal router: simulated where the venue's router may be blocked.

Wallets use this route, and a token may let only it transfer into its pool. The buyer buys as usual,
approves in the next block, and sells as in `sale`. A sale that passes this way counts as a sale,
whatever the outcome through the venue's own router. Sends no request.
"""

from typing import Final

import msgspec

from analysis.market.venues.trade_route import TradeRoute
from analysis.scenarios.trade.buy import Bought
from analysis.scenarios.trade.sale import read_attempts
from analysis.scenarios.trade.token_calls import UNLIMITED
from analysis.scenarios.trade.trade_setup import TradeSetup, build_simulation
from analysis.scenarios.trade.trade_steps import Order, SaleSteps, write_buy, write_sale
from analysis.simulation.simulate_v1 import (
    CallHandle,
    Outcome,
    SimCall,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import SimulationBuilder

VERSION: Final = 1


class Permit2Sale(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of sales through Permit2."""

    simulation: Simulation
    setup: TradeSetup
    """With the route through Permit2."""
    at_sale: SaleSteps
    later: SaleSteps

    @property
    def shown(self) -> tuple[CallHandle, ...]:
        """Return the calls whose results the evidence includes."""
        return (self.at_sale.sell,)


def write_simulation(setup: TradeSetup, route: TradeRoute, bought: Bought) -> Permit2Sale | None:
    """Return the simulation. `route`: through Permit2. None: there is nothing to sell."""
    buyer = bought.largest
    if buyer is None or buyer.balances_raw is None or not any(buyer.balances_raw):
        return None
    trader = setup.buyer(buyer.amount_in)
    by_permit2 = msgspec.structs.replace(setup, route=route)
    builder = SimulationBuilder(setup.blocks)
    write_buy(builder[0], setup, trader, buyer.amount_in, gas=buyer.gas)
    for at, (to, data) in enumerate(route.approvals(setup.candidate.token, UNLIMITED)):
        builder[1].add(SimCall(label=f"approval {at}", sender=trader, to=to, data=data))
    at_sale, later = (
        write_sale(builder[at], by_permit2, trader, Order(label=label, amount=amount))
        for at, label, amount in zip((2, 3), ("at sale", "later"), buyer.balances_raw, strict=True)
    )
    simulation = build_simulation(setup, builder.blocks(), payers={trader: buyer.amount_in})
    code = {route.router: route.code} if route.code else {}
    return Permit2Sale(
        simulation=msgspec.structs.replace(simulation, code={**simulation.code, **code}),
        setup=by_permit2,
        at_sale=at_sale,
        later=later,
    )


def read_result(written: Permit2Sale, result: SimulationResult) -> Outcome:
    """Return the outcome of the sale."""
    attempts = [(written.at_sale,), (written.later,)]
    return read_attempts(written.setup, result, attempts)
