"""Holder sell census: simulates sales by real holders, to count how many can sell and at what tax.

Kept in the evidence only: today's holders say little about future buyers. The sellers follow each
other in one simulation, a block each. A sale moves the price, which tax does not depend on, and a
reverted one does not change the next. Sends no request.
"""

from collections import Counter
from collections.abc import Sequence
from statistics import median

import msgspec

from analysis.scenarios import combined_plays
from analysis.scenarios.trade_outcome import read_sale
from analysis.scenarios.trade_setup import TradeSetup
from analysis.scenarios.transfer import Wallet, real_holders
from analysis.simulation.simulate_v1 import Passed, Refused, Simulation, SimulationResult
from core.primitives import Address, RawAmount

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


def choose(wallets: Sequence[Wallet], special: frozenset[Address]) -> tuple[Wallet, ...]:
    """Return real holders that are not special to the code, in the given order: largest first."""
    return real_holders(wallets, special)[:MOST_SELLERS]


def write_play(
    ground: TradeSetup, sellers: Sequence[Wallet], blocks: Sequence[tuple[int, int]]
) -> Simulation:
    """Return the simulation. `blocks`: number and time of the approvals, and of one sale per
    seller."""
    approvals = [
        call
        for seller in sellers
        for call in combined_plays.approving(
            ground, seller.address, amount=seller.amount_raw, seller=seller.address
        )
    ]
    scenes = [
        combined_plays.Scene(number=blocks[0][0], time_s=blocks[0][1], calls=tuple(approvals))
    ]
    for seller, (number, time_s) in zip(sellers, blocks[1:], strict=True):
        calls = combined_plays.selling(
            ground, seller.address, seller.amount_raw, seller=seller.address
        )
        scenes.append(combined_plays.Scene(number=number, time_s=time_s, calls=calls))
    return combined_plays.stage(
        ground, scenes, buyers={}, others=[seller.address for seller in sellers]
    )


def read_play(
    ground: TradeSetup, sellers: Sequence[Wallet], played: SimulationResult
) -> SellCensus:
    """Return the census."""
    sold = tuple(_read(ground, seller, played) for seller in sellers)
    taxes = [each.tax for each in sold if each.tax is not None]
    return SellCensus(
        pool=ground.candidate.key,
        could=sum(each.can_sell is True for each in sold),
        could_not=sum(each.can_sell is False for each in sold),
        not_learnt=sum(each.can_sell is None for each in sold),
        tax_min=min(taxes, default=None),
        tax_median=median(taxes) if taxes else None,
        tax_max=max(taxes, default=None),
        reasons=dict(Counter(each.reason for each in sold if each.can_sell is False)),
        sellers=sold,
    )


def _read(ground: TradeSetup, seller: Wallet, played: SimulationResult) -> CensusSale:
    amount = seller.amount_raw
    outcome = read_sale(
        ground, combined_plays.part(played, seller.address), "at sale", asked=amount
    )
    is_passed = isinstance(outcome, Passed)
    return CensusSale(
        holder=seller.address,
        amount_raw=amount,
        can_sell=True if is_passed else False if isinstance(outcome, Refused) else None,
        tax=outcome.tax if isinstance(outcome, Passed) else None,
        reason="" if isinstance(outcome, Passed) else outcome.reason,
    )
