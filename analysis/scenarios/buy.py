"""Buy check: simulates buys of several sizes in a pool, and measures their tax.

Fresh codeless accounts get the quote token and buy through the venue's real router, each size in a
simulation of its own. Tax is the difference between what the pool reports as sent and what arrived;
slippage and pool fees are not tax. The answer is the worst of the sizes. Source: the specification,
"Pools".
"""

from collections.abc import Sequence

import msgspec

from analysis.scenarios import combined_plays
from analysis.scenarios.trade_outcome import (
    BROUGHT_NOTHING,
    highest_taxed,
    is_told,
    read_buy,
    unlearnt,
)
from analysis.scenarios.trade_setup import TradeSetup, buy_play, little_gas, wallet_gas
from analysis.simulation.simulate_v1 import (
    CALL_GAS,
    NotSimulated,
    Outcome,
    Passed,
    Refused,
    Simulation,
    SimulationResult,
)
from core.primitives import RawAmount

VERSION = 4

_BUY_SHARES = (23, 110, 2_300)
"""Divisors of the pool's quote reserve, largest buy first. A maximum transaction or wallet reverts
the first sizes; an ordinary buy is nearest to the second. No round share is within a tenth of any
of them, so none is drawn by chance."""

_ESTIMATED_SHARE = 110
"""For this size the buy, the approval and the sale are simulated again with the gas that wallets
estimate: the gas used in the first step, and a margin."""

_CRUMB_SHARE = 23_000
_RESORTS = ("more gas", "crumb")
"""Label prefixes of the buys used only if ordinary ones fail."""
_MARGIN_PCT = 35
"""Percent that estimates and wallets add to the gas used: refunds, gas withheld from calls, and 20
to 30 percent."""
_FLAT_MARGIN = 30_000
"""Gas of a slot written for the first time, which a low gas limit may lead to."""


class BuyTry(msgspec.Struct, frozen=True, kw_only=True):
    """One simulated size of buy."""

    amount_in: RawAmount
    gas: int
    """Gas limit of the buy."""
    gas_used: int | None = None
    """None: not reported."""
    approval_gas_used: int | None = None
    """None: not approved, or not reported."""
    in_coin: bool
    """True if it was paid in the native coin, in one transaction."""
    outcome: Outcome
    held: tuple[RawAmount, RawAmount] | None
    """The trader's token balance at the sale and at the late sale. None: balanceOf did not answer,
    or nothing was bought."""


class Bought(msgspec.Struct, frozen=True, kw_only=True):
    """Result of the buy side of one pool."""

    outcome: Outcome
    passed: tuple[BuyTry, ...]
    """The sizes that passed, largest first."""

    @property
    def largest(self) -> BuyTry | None:
        """Return the largest buy that passed. None: nothing could be bought."""
        return self.passed[0] if self.passed else None


def write_buys(ground: TradeSetup) -> tuple[Simulation, ...]:
    """Return one independent simulation for each ordinary size. The two last resorts share one, and
    its buyer: a reverted buy does not change the next, and after one that passes the next is not
    used."""
    sizes = _sizes(ground)
    ordinary, resorts = sizes[: len(_BUY_SHARES)], sizes[len(_BUY_SHARES) :]
    buyer = ground.buyer(resorts[0].amount_in)
    shared = {
        name: buy_play(size.ground, size.amount_in, gas=size.gas, trader=buyer)
        for name, size in zip(_RESORTS, resorts, strict=True)
    }
    return (
        *(
            buy_play(size.ground, size.amount_in, gas=size.gas, approves=size.is_estimated)
            for size in ordinary
        ),
        combined_plays.together(shared),
    )


def read_buys(ground: TradeSetup, played: Sequence[SimulationResult | NotSimulated]) -> Bought:
    """Return the sizes that passed, with the highest tax. Refused if every size reverted, or an
    ordinary one was paid for and brought nothing."""
    *each, last = played
    resorts = [
        last if isinstance(last, NotSimulated) else combined_plays.part(last, name)
        for name in _RESORTS
    ]
    tries = [
        _read_try(size, result)
        for size, result in zip(_sizes(ground), (*each, *resorts), strict=True)
    ]
    ordinary, (with_more_gas, crumb) = tries[: len(_BUY_SHARES)], tries[len(_BUY_SHARES) :]
    passed = tuple(each for each in ordinary if isinstance(each.outcome, Passed))
    # A wallet's gas estimate shows a revert, but not that nothing will arrive.
    robbed = next(
        (each for each in ordinary if each.outcome == Refused(reason=BROUGHT_NOTHING)), None
    )
    if robbed is not None:
        return Bought(outcome=robbed.outcome, passed=passed)
    for resort in (with_more_gas, crumb):
        is_needed = not passed or resort.amount_in > passed[0].amount_in
        if is_needed and isinstance(resort.outcome, Passed):
            passed = (resort, *passed)
    if passed:
        told = [each.outcome for each in passed[1:] if each.held and is_told(each.held[0])]
        return Bought(outcome=highest_taxed([passed[0].outcome, *told]), passed=passed)
    outcomes = [each.outcome for each in ordinary]
    # The smallest size is the least likely to have reverted for its size.
    return Bought(outcome=unlearnt(outcomes) or outcomes[-1], passed=())


class _Size(msgspec.Struct, frozen=True, kw_only=True):
    ground: TradeSetup
    """Setup with the means of payment."""
    amount_in: RawAmount
    gas: int
    is_estimated: bool
    """True if its gas is measured for the sale."""


def _sizes(ground: TradeSetup) -> tuple[_Size, ...]:
    """Return the ordinary sizes, and the last resorts where the larger of these do not pass: an
    ordinary buy with more gas than wallets usually send, and a very small buy. The largest buyer
    pays and receives the wrapped coin, the others the native coin."""
    plenty = wallet_gas(ground)
    gases = (plenty, plenty, little_gas(ground), CALL_GAS, plenty)
    shares = (*_BUY_SHARES, _ESTIMATED_SHARE, _CRUMB_SHARE)
    return tuple(
        _Size(
            ground=ground.with_coin(is_wanted=share != _BUY_SHARES[0]),
            amount_in=part_of_reserve(ground, share),
            gas=gas,
            is_estimated=share == _ESTIMATED_SHARE and gas == plenty,
        )
        for share, gas in zip(shares, gases, strict=True)
    )


def _read_try(size: _Size, played: SimulationResult | NotSimulated) -> BuyTry:
    outcome = read_buy(size.ground, played, size.amount_in)
    is_bought = isinstance(outcome, Passed)
    results = played.by_label if isinstance(played, SimulationResult) and is_bought else {}
    approval = results.get("approve at sale")
    return BuyTry(
        amount_in=size.amount_in,
        gas=size.gas,
        gas_used=results["buy"].gas_used if results else None,
        approval_gas_used=approval.gas_used if approval is not None and approval.ok else None,
        in_coin=size.ground.in_coin,
        outcome=outcome,
        held=_held(played) if isinstance(played, SimulationResult) and is_bought else None,
    )


def part_of_reserve(ground: TradeSetup, share: int) -> RawAmount:
    """Return about 1/`share` of the pool's quote reserve."""
    amount = RawAmount(ground.quote_reserve_raw // share)
    return ground.disguise.about(amount, f"{ground.candidate.key}:size {share}")


def estimated_gas(gas_used: int | None) -> int | None:
    """Return the gas limit that a wallet sets after an estimate. None: the gas used is not
    known."""
    return None if gas_used is None else gas_used * (100 + _MARGIN_PCT) // 100 + _FLAT_MARGIN


def _held(played: SimulationResult) -> tuple[RawAmount, RawAmount] | None:
    at_sale, later = played["balance at sale"].word, played["balance later"].word
    if at_sale is None or later is None:
        return None
    return RawAmount(at_sale), RawAmount(later)
