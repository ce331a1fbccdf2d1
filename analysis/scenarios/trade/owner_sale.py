"""Owner's sale: simulated where buyers' sales are refused, to distinguish a trap from a broken
pool.

The owner is funded by state override with a usual amount, approves, and sells in the next block and
later, as in `sale`. Kept in the evidence only: no finding depends on it. Sends no request.
"""

from typing import Final

import msgspec

from analysis.scenarios.trade.sale import read_attempts
from analysis.scenarios.trade.token_calls import UNLIMITED
from analysis.scenarios.trade.trade_setup import TradeSetup, build_simulation
from analysis.scenarios.trade.trade_steps import Order, SaleSteps, write_approval, write_sale
from analysis.scenarios.trade.transfer import sent_share
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.simulate_v1 import CallHandle, Outcome, Simulation, SimulationResult
from analysis.simulation.simulation_builder import SimulationBuilder
from core.evm.primitives import Address, RawAmount

VERSION: Final = 1


class OwnerSale(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of sales by an owner."""

    simulation: Simulation
    setup: TradeSetup
    at_sale: SaleSteps
    later: SaleSteps

    @property
    def shown(self) -> tuple[CallHandle, ...]:
        """Return the calls whose results the evidence includes."""
        return (self.at_sale.sell, self.later.sell)


def write_simulation(
    setup: TradeSetup, owner: Address, *, supply_raw: RawAmount
) -> OwnerSale | None:
    """Return the simulation. None: the owner cannot be funded without the token's balance slot."""
    token, slot_index = setup.candidate.token, setup.token_slot_index
    if slot_index is None:
        return None
    amount = sent_share(supply_raw, setup.disguise)
    builder = SimulationBuilder(setup.blocks)
    approval = write_approval(builder[1], setup, owner, "at sale", UNLIMITED)
    at_sale, later = (
        write_sale(builder[at], setup, owner, Order(label=label, amount=amount), approval=approval)
        for at, label in ((2, "at sale"), (3, "later"))
    )
    # Twice the amount, for the late sale.
    given = {token: balance_override(owner, RawAmount(2 * amount), index=slot_index)}
    simulation = build_simulation(setup, builder.blocks(), others=(owner,), given=given)
    return OwnerSale(simulation=simulation, setup=setup, at_sale=at_sale, later=later)


def read_result(written: OwnerSale, result: SimulationResult) -> Outcome:
    """Return the outcome: that of the first of the two sales that passed."""
    return read_attempts(written.setup, result, [(written.at_sale,), (written.later,)])
