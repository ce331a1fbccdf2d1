"""Exit sale: simulates a sale of an amount, in one pool or split over several.

One account that holds the amount approves each router in one block and sells in the next, with one
transaction per pool. It is funded by state override, or a real holder where balances cannot be
overridden. Sends no request.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from analysis.scenarios.trade.token_calls import balance_call
from analysis.scenarios.trade.trade_outcome import proceeds, read_sale
from analysis.scenarios.trade.trade_setup import TradeSetup, build_simulation
from analysis.scenarios.trade.trade_steps import (
    ApprovalSteps,
    Order,
    SaleSteps,
    write_approval,
    write_sale,
)
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.simulate_v1 import (
    NotSimulated,
    Outcome,
    Passed,
    SimCall,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import SimulationBuilder
from core.evm.primitives import Address, RawAmount

_BLOCKS: Final = 2
"""Blocks of the approvals and of the sales."""


class Seller(msgspec.Struct, frozen=True, kw_only=True):
    """Account whose tokens are sold."""

    holder: Address | None
    """A real holder. None: a fresh account, funded by state override."""
    most_raw: RawAmount
    """Most that can be sold: the holder's balance, or the supply."""
    slot_index: int | None
    """Index of the token's balance slot. None: not needed, for a real holder."""


class ExitLeg(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a sale that goes through one pool."""

    setup: TradeSetup
    amount_raw: RawAmount


class ExitSimulation(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of a whole sale."""

    simulation: Simulation
    legs: tuple[ExitLeg, ...]
    approvals: tuple[ApprovalSteps, ...]
    """One for each router."""
    sales: tuple[SaleSteps, ...]
    """One for each leg."""


class LegOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of one leg."""

    leg: ExitLeg
    outcome: Outcome
    proceeds_raw: RawAmount | None = None
    """Received smallest units of the quote token. None: it did not pass, or is not visible."""
    paid_out_raw: RawAmount | None = None
    """Amount that left the pool, by the pool's event. None: it did not pass."""
    left_raw: RawAmount | None = None
    """Part of the amount that the seller kept. None: it did not pass, or is not known."""
    gas_used: int | None = None
    """Gas of the sale alone. None: not reported."""


class ExitOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of one simulation."""

    legs: tuple[LegOutcome, ...]
    gas_used: int | None = None
    """Gas of all approvals and sales. None: not reported."""

    @property
    def refusal(self) -> Outcome | None:
        """First outcome that is no pass with known proceeds. None: all are."""
        for leg in self.legs:
            if not isinstance(leg.outcome, Passed):
                return leg.outcome
            if leg.proceeds_raw is None:
                return NotSimulated(missing="NODE", reason="the proceeds are not visible")
        return None


def write_exit(
    legs: Sequence[ExitLeg],
    seller: Seller,
    *,
    before: Sequence[SimCall] = (),
    code: Mapping[Address, str] | None = None,
) -> ExitSimulation:
    """Return the simulation of a sale of all legs in turn, which are of one token.

    `before`: calls of others at the beginning of the first block. `code`: code overrides for them.
    """
    setup, token = legs[0].setup, legs[0].setup.candidate.token
    total = RawAmount(sum(leg.amount_raw for leg in legs))
    wallet = seller.holder or setup.disguise.account(f"{setup.candidate.key}:exit {total}")
    builder = SimulationBuilder(setup.blocks[:_BLOCKS])
    for call in before:
        builder[0].add(call)
    builder[0].add(balance_call(token, wallet, "balance given"))
    by_router: dict[Address, int] = {}
    for leg in legs:
        router = leg.setup.route.router
        by_router[router] = by_router.get(router, 0) + leg.amount_raw
    first_of = {leg.setup.route.router: leg.setup for leg in reversed(legs)}
    approvals = {
        router: write_approval(builder[0], first_of[router], wallet, router, amount)
        for router, amount in by_router.items()
    }
    sales = tuple(
        write_sale(
            builder[1],
            leg.setup,
            wallet,
            Order(label=f"exit {at}", amount=leg.amount_raw),
            # A loss by an approval counts for the first sale, which is written before the others.
            approval=approvals[leg.setup.route.router] if at == 0 else None,
        )
        for at, leg in enumerate(legs)
    )
    given = None
    if seller.holder is None and seller.slot_index is not None:
        given = {token: balance_override(wallet, total, index=seller.slot_index)}
    others = tuple(dict.fromkeys((wallet, *(call.sender for call in before))))
    simulation = build_simulation(setup, builder.blocks(), others=others, given=given)
    routers = {
        leg.setup.route.router: leg.setup.route.code
        for leg in legs
        if leg.setup.route.code is not None
    }
    return ExitSimulation(
        simulation=msgspec.structs.replace(simulation, code=routers | dict(code or {})),
        legs=tuple(legs),
        approvals=tuple(approvals.values()),
        sales=sales,
    )


def read_exit(written: ExitSimulation, result: SimulationResult | NotSimulated) -> ExitOutcome:
    """Return the outcome of each leg."""
    if isinstance(result, NotSimulated):
        return ExitOutcome(legs=tuple(LegOutcome(leg=leg, outcome=result) for leg in written.legs))
    spent = [result[each.approve].gas_used for each in written.approvals]
    spent += [result[each.sell].gas_used for each in written.sales]
    known = [gas for gas in spent if gas is not None]
    return ExitOutcome(
        legs=tuple(
            _read_leg(leg, sale, result)
            for leg, sale in zip(written.legs, written.sales, strict=True)
        ),
        gas_used=sum(known) if len(known) == len(spent) else None,
    )


def _read_leg(leg: ExitLeg, sale: SaleSteps, result: SimulationResult) -> LegOutcome:
    outcome = read_sale(leg.setup, result, sale)
    before = result.word(sale.before)
    if before is not None and before < leg.amount_raw and isinstance(outcome, Passed):
        reason = "the wallet could not be given the tokens"
        outcome = NotSimulated(missing="FUNDS", reason=reason)
    if not isinstance(outcome, Passed):
        return LegOutcome(leg=leg, outcome=outcome)
    moved = leg.setup.moved(result[sale.sell].logs, is_buy=False)
    after = result.word(sale.after)
    sold = None if before is None or after is None else max(0, before - after)
    got = proceeds(leg.setup, result, sale)
    return LegOutcome(
        leg=leg,
        outcome=outcome,
        proceeds_raw=None if got is None else RawAmount(got),
        paid_out_raw=None if moved is None else moved.sent,
        left_raw=None if sold is None else RawAmount(max(0, leg.amount_raw - sold)),
        gas_used=result[sale.sell].gas_used,
    )
