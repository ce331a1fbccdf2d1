"""Reads a simulated sale as one line of a quote. Pure: no I/O."""

from collections.abc import Sequence

import msgspec

from analysis.quotes.exit_choice import PoolSales
from analysis.scenarios.trade.exit_sale import ExitOutcome, LegOutcome
from analysis.simulation.simulate_v1 import NotSimulated, Passed, Refused
from core.evm.primitives import RawAmount


class ExitPart(msgspec.Struct, frozen=True, kw_only=True):
    """Part of a sale in one pool."""

    pool: str
    """Candidate.key."""
    dex: str
    amount_raw: RawAmount
    quote: str
    """Address of the token that is received; the zero address is the native coin."""
    proceeds_raw: RawAmount
    """Received smallest units of it."""
    proceeds_usd: float
    tax_pct: float | None
    """Percent. None: the amounts do not show it."""
    depth_share: float | None
    """Part of the pool's quote side that left it, 0 to 1. None: not known."""
    loss_pct: float | None = None
    """Percent; see `Passed.loss`."""


class ExitLine(msgspec.Struct, frozen=True, kw_only=True):
    """One size. None: not known, for the `reason`."""

    amount_raw: RawAmount
    """Smallest units. 0: the size has no amount, as there is no price."""
    value_usd: float | None
    """At the spot price."""
    proceeds_usd: float | None = None
    """Proceeds after tax, fees and price impact, before gas."""
    net_usd: float | None = None
    """The same after gas. None also where the coin has no price."""
    tax_pct: float | None = None
    """Percent of the sale that the token took, by proceeds over all parts."""
    price_impact_pct: float | None = None
    """Percent below the spot price, with pool fees, without tax."""
    gas_used: int | None = None
    """Gas of approvals and sales."""
    gas_wei: RawAmount | None = None
    gas_usd: float | None = None
    depth_share: float | None = None
    """Part of the quote sides of all usable pools, by value, that the sale took, 0 to 1."""
    left_raw: RawAmount | None = None
    """Part of the amount that could not be sold without liquidity."""
    parts: tuple[ExitPart, ...] = ()
    reason: str = ""
    """Reason for a missing number. Empty: none is missing."""
    is_refused: bool = False
    """True if the token or pool reverts the sale; False with a reason: it is not known."""


def unread_line(amount_raw: int, usd: float | None, why: Refused | NotSimulated) -> ExitLine:
    """Return the line of a size that was not sold."""
    return ExitLine(
        amount_raw=RawAmount(amount_raw),
        value_usd=usd,
        reason=why.reason,
        is_refused=isinstance(why, Refused),
    )


def read_line(
    outcome: ExitOutcome,
    usable: Sequence[PoolSales],
    *,
    amount_raw: RawAmount,
    spot_usd: float | None,
    decimals: int,
    gas_price_wei: int,
    native_usd: float | None,
) -> ExitLine:
    """Return the line of a simulated sale. `usable`: every pool that is sold in."""
    value = None if spot_usd is None else amount_raw / 10**decimals * spot_usd
    refusal = outcome.refusal
    if isinstance(refusal, Refused | NotSimulated):
        return unread_line(amount_raw, value, refusal)
    by_key = {each.setup.candidate.key: each for each in usable}
    parts = tuple(_part(leg, by_key[leg.leg.setup.candidate.key]) for leg in outcome.legs)
    got = sum(part.proceeds_usd for part in parts)
    tax = _tax(parts)
    gas_wei = None if outcome.gas_used is None else RawAmount(outcome.gas_used * gas_price_wei)
    gas_usd = None if gas_wei is None or native_usd is None else gas_wei / 10**18 * native_usd
    lefts = [leg.left_raw for leg in outcome.legs]
    return ExitLine(
        amount_raw=amount_raw,
        value_usd=value,
        proceeds_usd=got,
        net_usd=None if gas_usd is None else got - gas_usd,
        tax_pct=tax,
        price_impact_pct=_impact(value, got, tax),
        gas_used=outcome.gas_used,
        gas_wei=gas_wei,
        gas_usd=gas_usd,
        depth_share=_depth_share(outcome, usable),
        left_raw=None if None in lefts else RawAmount(sum(left or 0 for left in lefts)),
        parts=parts,
    )


def _part(leg: LegOutcome, sold: PoolSales) -> ExitPart:
    candidate, got = sold.setup.candidate, leg.proceeds_raw or RawAmount(0)
    is_known = leg.paid_out_raw is not None and sold.quote_reserve_raw > 0
    return ExitPart(
        pool=candidate.key,
        dex=candidate.dex.name,
        amount_raw=leg.leg.amount_raw,
        quote=candidate.quote,
        proceeds_raw=got,
        proceeds_usd=sold.quote_price.value_usd(got),
        tax_pct=leg.outcome.tax if isinstance(leg.outcome, Passed) else None,
        depth_share=(leg.paid_out_raw or 0) / sold.quote_reserve_raw if is_known else None,
        loss_pct=leg.outcome.loss if isinstance(leg.outcome, Passed) else None,
    )


def _tax(parts: Sequence[ExitPart]) -> float | None:
    """Return the tax over all parts. None: a part's tax is not known, or took all of it."""
    before = 0.0
    for part in parts:
        if part.tax_pct is None:
            return None
        if part.tax_pct >= 100:  # noqa: PLR2004 - percent: nothing is left to compare
            return 100.0 if len(parts) == 1 else None
        before += part.proceeds_usd / (1 - part.tax_pct / 100)
    after = sum(part.proceeds_usd for part in parts)
    return round(100 * (1 - after / before), 4) if before > 0 else None


def _impact(value_usd: float | None, got_usd: float, tax: float | None) -> float | None:
    if not value_usd or tax is None or tax >= 100:  # noqa: PLR2004 - percent
        return None
    return round(100 * (1 - got_usd / (1 - tax / 100) / value_usd), 4)


def _depth_share(outcome: ExitOutcome, usable: Sequence[PoolSales]) -> float | None:
    """Return the share of all pools' quote sides, by value, that left them."""
    all_usd = sum(each.quote_price.value_usd(each.quote_reserve_raw) for each in usable)
    by_key = {each.setup.candidate.key: each.quote_price for each in usable}
    taken_usd = 0.0
    for leg in outcome.legs:
        if leg.paid_out_raw is None:
            return None
        taken_usd += by_key[leg.leg.setup.candidate.key].value_usd(leg.paid_out_raw)
    return taken_usd / all_usd if all_usd > 0 else None
