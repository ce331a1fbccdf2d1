"""Can this pool's token be bought, and what does a buy cost?

Fresh codeless accounts get the quote token and buy through the venue's real router, in several
sizes, each played by itself. Tax is what the pool says it sent against what arrived; slippage and
pool fees are not tax. The answer is the worst of the sizes. Source: the specification, "Pools".
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
from config.primitives import RawAmount

VERSION = 4

_BUY_SHARES = (23, 110, 2_300)
"""Divisors of the pool's quote reserve, largest buy first: a maximum transaction or wallet refuses
the first sizes; what ordinary people pay is nearest to the second. No round share is within a tenth
of any of them, so none is drawn by chance."""

_ESTIMATED_SHARE = 110
"""Of this size the buy, the approval and the sale are played again with as much gas as wallets
estimate: what the first step took, and a margin."""

_CRUMB_SHARE = 23_000
_RESORTS = ("more gas", "crumb")
"""Names of the buyers that come after the ordinary ones have failed."""
_MARGIN_PCT = 35
"""What estimates and wallets put on top of the gas used: refunds, what calls keep back, and 20 to
30 percent."""
_FLAT_MARGIN = 30_000
"""A slot written for the first time, which little gas may lead to."""


class BuyTry(msgspec.Struct, frozen=True, kw_only=True):
    """One size of buy, played."""

    amount_in: RawAmount
    gas: int
    """What it brought."""
    gas_used: int | None = None
    """None: not told."""
    approval_gas_used: int | None = None
    """None: not approved, or not told."""
    in_coin: bool
    """Paid in the chain's coin, in one transaction."""
    outcome: Outcome
    held: tuple[RawAmount, RawAmount] | None
    """The trader's token balance at the sale and at the patient sale. None: the token did not
    tell, or nothing was bought."""


class Bought(msgspec.Struct, frozen=True, kw_only=True):
    """The buy side, settled."""

    outcome: Outcome
    passed: tuple[BuyTry, ...]
    """The sizes that went through, largest first."""

    @property
    def largest(self) -> BuyTry | None:
        """None: nothing could be bought."""
        return self.passed[0] if self.passed else None


def write_buys(ground: TradeSetup) -> tuple[Simulation, ...]:
    """One play an ordinary size, independent of each other. The last resorts share one, and its
    buyer: a refused buy changes nothing for the next, and after one that passes the next is not
    asked for."""
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
    """The sizes that worked, with the highest tax; refused when the chain refused every size, or
    an ordinary one was paid for and brought nothing."""
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
    # A wallet that estimates gas notices a refusal, but not that nothing will arrive.
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
    # The smallest size is the least likely to have been refused for its size.
    return Bought(outcome=unlearnt(outcomes) or outcomes[-1], passed=())


class _Size(msgspec.Struct, frozen=True, kw_only=True):
    ground: TradeSetup
    """How it is paid."""
    amount_in: RawAmount
    gas: int
    is_estimated: bool
    """Its gas is learnt for the sale."""


def _sizes(ground: TradeSetup) -> tuple[_Size, ...]:
    """The ordinary ones, and the last resorts where the larger of these do not pass: an ordinary
    buy with more gas than wallets usually send, as they do where it takes more, and a crumb. The
    largest buyer pays and receives the wrapped coin, the others the coin itself."""
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
    """About one part in `share` of what the pool holds of the quote token."""
    amount = RawAmount(ground.quote_reserve_raw // share)
    return ground.disguise.about(amount, f"{ground.candidate.key}:size {share}")


def estimated_gas(gas_used: int | None) -> int | None:
    """What a wallet brings after an estimate. None: not known what it takes."""
    return None if gas_used is None else gas_used * (100 + _MARGIN_PCT) // 100 + _FLAT_MARGIN


def _held(played: SimulationResult) -> tuple[RawAmount, RawAmount] | None:
    at_sale, later = played["balance at sale"].word, played["balance later"].word
    if at_sale is None or later is None:
        return None
    return RawAmount(at_sale), RawAmount(later)
