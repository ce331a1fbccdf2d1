"""Chooses the parts of a sale by pool, from each pool's proceeds at several sizes. Pure."""

from collections.abc import Sequence
from typing import Final

import msgspec

from analysis.market.liquidity_value import Price
from analysis.market.proceeds_curve import ProceedsCurve, best_split
from analysis.scenarios.trade.exit_sale import ExitLeg, ExitOutcome, LegOutcome
from analysis.scenarios.trade.trade_setup import TradeSetup
from analysis.simulation.simulate_v1 import NotSimulated, Passed, Refused
from core.evm.primitives import RawAmount

_TAX_POINTS: Final = 1.0
"""Percentage points by which buyers' tax may exceed that of the quoted sales."""


class PoolSales(msgspec.Struct, frozen=True, kw_only=True):
    """Sales of several sizes in one pool, each from the same state."""

    setup: TradeSetup
    quote_price: Price
    quote_reserve_raw: RawAmount
    outcomes: tuple[ExitOutcome, ...]
    """Outcomes with one leg each, by amount, ascending."""
    gas_used: int | None
    """Gas of an approval and a sale. None: not reported."""
    proceeds: ProceedsCurve
    """USD that reached the seller."""
    payouts: ProceedsCurve
    """Smallest units of the quote token that left the pool."""

    @classmethod
    def of(
        cls,
        setup: TradeSetup,
        outcomes: Sequence[ExitOutcome],
        *,
        quote_price: Price,
        quote_reserve_raw: RawAmount,
    ) -> "PoolSales":
        """Return the sales from the outcomes of simulations with one leg each."""
        sales = tuple(outcome.legs[0] for outcome in outcomes)
        passed = [each for each in sales if isinstance(each.outcome, Passed)]
        gases = [outcome.gas_used for outcome in outcomes if outcome.refusal is None]
        known = [gas for gas in gases if gas is not None]
        return cls(
            setup=setup,
            quote_price=quote_price,
            quote_reserve_raw=quote_reserve_raw,
            outcomes=tuple(outcomes),
            gas_used=max(known, default=None),
            proceeds=ProceedsCurve.of(
                [
                    (each.leg.amount_raw, quote_price.value_usd(each.proceeds_raw))
                    for each in passed
                    if each.proceeds_raw is not None
                ]
            ),
            payouts=ProceedsCurve.of(
                [
                    (each.leg.amount_raw, float(each.paid_out_raw))
                    for each in passed
                    if each.paid_out_raw is not None
                ]
            ),
        )

    @property
    def sales(self) -> tuple[LegOutcome, ...]:
        """Return the legs, by amount, ascending."""
        return tuple(outcome.legs[0] for outcome in self.outcomes)

    def why_not(self, amount: int) -> Refused | NotSimulated:
        """Return why this amount was not sold here."""
        for each in self.sales:
            if each.leg.amount_raw < amount and not isinstance(each.outcome, Refused):
                continue
            if isinstance(each.outcome, Refused | NotSimulated):
                return each.outcome
        return NotSimulated(missing="NODE", reason="no sale of this size was measured")


def find_exclusion(sold: PoolSales, *, buyers_tax: float | None) -> str | None:
    """Return why the pool's sales are not quoted. None: they are.

    `buyers_tax`: highest tax in percent of sales by buyers. None: not known.
    """
    taxes = [
        each.outcome.tax
        for each in sold.sales
        if isinstance(each.outcome, Passed) and each.outcome.tax is not None
    ]
    if buyers_tax is not None and taxes and max(taxes) + _TAX_POINTS < buyers_tax:
        return (
            f"buyers pay {buyers_tax:g} % of tax when they sell here, "
            f"and the quoted wallet {max(taxes):g} %"
        )
    return None


def plan_legs(
    usable: Sequence[PoolSales], amount: int, *, gas_usd: float
) -> tuple[ExitLeg, ...] | Refused | NotSimulated:
    """Return the legs with the highest proceeds after gas, or why there are none.

    `gas_usd`: USD of one unit of gas. The pools that pay most for the whole amount are tried alone,
    then together with one more each.
    """
    if amount <= 0 or not usable:
        missing = "no pool is sold in" if not usable else "the token has no price"
        return NotSimulated(missing="POOL", reason=missing)
    ordered = sorted(usable, key=lambda each: -_most(each, amount))
    best: tuple[float, tuple[ExitLeg, ...]] | None = None
    for number in range(1, len(ordered) + 1):
        pools = ordered[:number]
        shares = best_split([each.proceeds for each in pools], amount)
        if shares is None:
            continue
        parts = [(each, share) for each, share in zip(pools, shares, strict=True) if share]
        net = sum(
            each.proceeds.paid_for(share) - (each.gas_used or 0) * gas_usd for each, share in parts
        )
        if best is None or net > best[0]:
            legs = (ExitLeg(setup=each.setup, amount_raw=RawAmount(share)) for each, share in parts)
            best = net, tuple(legs)
    return ordered[0].why_not(amount) if best is None else best[1]


def half_depth(usable: Sequence[PoolSales]) -> tuple[ExitLeg, ...] | Refused | NotSimulated:
    """Return the legs that take about half of each pool's quote side, or why there are none."""
    legs = []
    for each in usable:
        amount = each.payouts.amount_for(each.quote_reserve_raw / 2)
        if amount is None:
            return each.why_not(each.payouts.largest + 1)
        legs.append(ExitLeg(setup=each.setup, amount_raw=RawAmount(amount)))
    return tuple(legs)


def _most(sold: PoolSales, amount: int) -> float:
    """Return the pool's proceeds for the amount, or for the largest measured one."""
    return sold.proceeds.paid_for(min(amount, sold.proceeds.largest))


def better_of(
    split: ExitOutcome, usable: Sequence[PoolSales], amount: int, *, gas_usd: float
) -> ExitOutcome:
    """Return the better of the split sale and the best sale in one pool.

    A token may permit one sale and no second.
    """
    tried = [
        outcome
        for each in usable
        for outcome in each.outcomes
        if outcome.legs[0].leg.amount_raw == amount and outcome.refusal is None
    ]
    prices = {each.setup.candidate.key: each.quote_price for each in usable}

    def net_usd(outcome: ExitOutcome) -> float:
        got = sum(
            prices[leg.leg.setup.candidate.key].value_usd(leg.proceeds_raw or RawAmount(0))
            for leg in outcome.legs
        )
        return got - (outcome.gas_used or 0) * gas_usd

    if split.refusal is None or not tried:
        tried.insert(0, split)
    return max(tried, key=net_usd)
