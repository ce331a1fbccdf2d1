"""Holder sell census: simulates sales by real holders, and counts passes and taxes.

Kept in the evidence only: today's holders are no sample of future buyers. The sellers sell in turn
in one simulation, one block each. A sale moves the price, on which tax does not depend, and a
reverted one does not change the next. Sends no request.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

import msgspec

from analysis.scenarios.trade.account_calls import account_calls
from analysis.scenarios.trade.trade_outcome import read_sale
from analysis.scenarios.trade.trade_setup import TradeSetup, build_simulation
from analysis.scenarios.trade.trade_steps import Order, SaleSteps, write_approval, write_sale
from analysis.scenarios.trade.transfer import Wallet, real_holders
from analysis.simulation.simulate_v1 import (
    CallHandle,
    Passed,
    Refused,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import SimulationBuilder
from core.evm.primitives import Address, Hash32, RawAmount

VERSION = 2

MOST_SELLERS = 20


class CensusSale(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of one holder's sale."""

    holder: Address
    amount_raw: RawAmount
    """Amount of the sale: a part of the holding."""
    can_sell: bool | None
    """None: not determined."""
    tax: float | None
    """Percent. None: not sold, or not computable from the amounts."""
    reason: str
    """Reason why not; empty where it was sold."""


class SellCensus(msgspec.Struct, frozen=True, kw_only=True):
    """Counts, taxes and outcomes of all sellers."""

    pool: str
    """Candidate.key of the pool in which they sold."""
    could: int
    could_not: int
    not_learnt: int
    tax_min: float | None
    """Percent, as the next two; None: no tax is known."""
    tax_median: float | None
    tax_max: float | None
    reasons: dict[str, int]
    """Number of reverted sales by reason."""
    sellers: tuple[CensusSale, ...]


class CensusSimulation(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of all sales."""

    simulation: Simulation
    setup: TradeSetup
    sales: tuple[tuple[Address, SaleSteps], ...]
    """Sales by holder."""

    @property
    def shown(self) -> tuple[CallHandle, ...]:
        """Return the calls whose results the evidence includes."""
        return tuple(steps.sell for _, steps in self.sales)


def choose(wallets: Sequence[Wallet], special: frozenset[Address]) -> tuple[Wallet, ...]:
    """Return real holders that are not special to the code, in the given order: largest first."""
    return real_holders(wallets, special)[:MOST_SELLERS]


def write_simulation(
    setup: TradeSetup,
    sellers: Sequence[Wallet],
    blocks: Sequence[tuple[int, int]],
    *,
    given: Mapping[Address, Mapping[Hash32, Hash32]] | None = None,
) -> CensusSimulation:
    """Return the simulation. `blocks`: number and time of the approvals, and of one sale per
    seller. `given`: slots that are overridden, by contract."""
    builder = SimulationBuilder(blocks)
    sales = []
    for at, wallet in enumerate(sellers, 1):
        seller, amount = wallet.address, wallet.amount_raw
        approving = account_calls(builder[0], seller)
        approval = write_approval(approving, setup, seller, "at sale", amount)
        order = Order(label="at sale", amount=amount)
        selling = account_calls(builder[at], seller)
        sales.append((seller, write_sale(selling, setup, seller, order, approval=approval)))
    simulation = build_simulation(
        setup, builder.blocks(), others=[wallet.address for wallet in sellers], given=given
    )
    return CensusSimulation(simulation=simulation, setup=setup, sales=tuple(sales))


def read_result(written: CensusSimulation, result: SimulationResult) -> SellCensus:
    """Return the census."""
    sold = tuple(_read(written.setup, result, *each) for each in written.sales)
    taxes = [each.tax for each in sold if each.tax is not None]
    return SellCensus(
        pool=written.setup.candidate.key,
        could=sum(each.can_sell is True for each in sold),
        could_not=sum(each.can_sell is False for each in sold),
        not_learnt=sum(each.can_sell is None for each in sold),
        tax_min=min(taxes, default=None),
        tax_median=median(taxes) if taxes else None,
        tax_max=max(taxes, default=None),
        reasons=dict(Counter(each.reason for each in sold if each.can_sell is False)),
        sellers=sold,
    )


def _read(
    setup: TradeSetup, result: SimulationResult, holder: Address, steps: SaleSteps
) -> CensusSale:
    outcome = read_sale(setup, result, steps)
    is_passed = isinstance(outcome, Passed)
    return CensusSale(
        holder=holder,
        amount_raw=steps.order.amount,
        can_sell=True if is_passed else False if isinstance(outcome, Refused) else None,
        tax=outcome.tax if isinstance(outcome, Passed) else None,
        reason="" if isinstance(outcome, Passed) else outcome.reason,
    )
