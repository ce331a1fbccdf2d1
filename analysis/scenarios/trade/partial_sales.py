"""Partial sales: simulates the sale of a large holding in eight parts.

Used where a sale of the whole may revert for its size. The largest buyer sells an eighth at a time,
first minutes, then an hour and a day apart. So a limit on one sale, or a waiting time between two,
does not count as a trap, and the sale of a first part does not prove that of the rest.
Sends no request.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from analysis.scenarios.trade.buy import Bought
from analysis.scenarios.trade.trade_outcome import read_sale
from analysis.scenarios.trade.trade_setup import TradeSetup, build_simulation
from analysis.scenarios.trade.trade_steps import (
    Order,
    SaleSteps,
    write_approval,
    write_buy,
    write_sale,
)
from analysis.simulation.simulate_v1 import CallHandle, Passed, Simulation, SimulationResult
from analysis.simulation.simulation_builder import SimulationBuilder
from core.evm.primitives import RawAmount

VERSION: Final = 1

PARTS: Final = 8
WAITS_S: Final = (0, 0, 300, 300, 600, 3_600, 3_600, 86_400, 86_400)
"""Seconds to wait before the approval, and before each part."""

_MOST_REFUSED: Final = 2
"""Most parts that may revert, because of a waiting time between sales."""


class PartialSales(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of the sale in parts."""

    simulation: Simulation
    setup: TradeSetup
    """With the means of payment."""
    parts: tuple[SaleSteps, ...]

    @property
    def shown(self) -> tuple[CallHandle, ...]:
        """Calls whose results the evidence includes: none, the outcome suffices."""
        return ()


def write_simulation(
    setup: TradeSetup, bought: Bought, blocks: Sequence[tuple[int, int]]
) -> PartialSales | None:
    """Return the simulation. `blocks`: number and time of the buy, the approval, and each part.
    None: nothing to sell."""
    buyer = bought.largest
    if buyer is None or buyer.balances_raw is None or buyer.balances_raw[0] < PARTS:
        return None
    setup, bought_raw = setup.with_coin(is_wanted=buyer.in_coin), buyer.balances_raw[0]
    trader = setup.buyer(buyer.amount_in)
    builder = SimulationBuilder(blocks)
    write_buy(builder[0], setup, trader, buyer.amount_in, gas=buyer.gas)
    write_approval(builder[1], setup, trader, "parts", bought_raw)
    orders = (
        Order(label=f"part {number}", amount=RawAmount(bought_raw // PARTS))
        for number in range(1, PARTS + 1)
    )
    parts = tuple(
        write_sale(builder[at], setup, trader, order) for at, order in enumerate(orders, 2)
    )
    simulation = build_simulation(setup, builder.blocks(), payers={trader: buyer.amount_in})
    return PartialSales(simulation=simulation, setup=setup, parts=parts)


def read_result(written: PartialSales, result: SimulationResult) -> bool:
    """True if the parts could be sold, except for a few that came too soon."""
    outcomes = [read_sale(written.setup, result, part) for part in written.parts]
    refused = [at for at, outcome in enumerate(outcomes) if not isinstance(outcome, Passed)]
    return len(refused) <= _MOST_REFUSED and PARTS - 1 not in refused
