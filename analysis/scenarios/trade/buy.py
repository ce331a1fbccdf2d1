"""Buy check: simulates buys of several sizes in a pool, and measures their tax.

Fresh codeless accounts get the quote token and buy through the venue's real router, each size in a
separate simulation. Tax is the difference between the amount that the pool reports as sent and the
received one; slippage and pool fees are not tax. The answer is the worst of the sizes. Source: the
specification, "Pools".
"""

from collections.abc import Sequence

import msgspec

from analysis.scenarios.trade.token_calls import UNLIMITED, balance_call
from analysis.scenarios.trade.trade_outcome import (
    BROUGHT_NOTHING,
    exceeds_rounding,
    highest_taxed,
    read_buy,
    unlearnt,
)
from analysis.scenarios.trade.trade_setup import (
    TradeSetup,
    build_simulation,
    little_gas,
    wallet_gas,
)
from analysis.scenarios.trade.trade_steps import ApprovalSteps, BuySteps, write_approval, write_buy
from analysis.simulation.simulate_v1 import (
    CALL_GAS,
    CallHandle,
    NotSimulated,
    Outcome,
    Passed,
    Refused,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import SimulationBuilder
from core.evm.primitives import Address, RawAmount

VERSION = 4

_BUY_SHARES = (23, 110, 2_300)
"""Divisors of the pool's quote reserve, largest buy first. A maximum transaction or wallet reverts
the first sizes; an ordinary buy is nearest to the second. No round share is within a tenth of any
of them, so none is drawn by chance."""

_ESTIMATED_SHARE = 110
"""For this size the buy, the approval and the sale are simulated again with the gas that wallets
estimate: the gas used in the first step, and a margin."""

_CRUMB_SHARE = 23_000
_MARGIN_PCT = 35
"""Percent that estimates and wallets add to the gas used: refunds, gas withheld from calls, and 20
to 30 percent."""
_FLAT_MARGIN = 30_000
"""Gas of a slot written for the first time, which a low gas limit may lead to."""


class SizedBuy(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of one size of buy, with those after it."""

    setup: TradeSetup
    """With the means of payment."""
    gas: int
    """Gas limit of the buy."""
    steps: BuySteps
    approval: ApprovalSteps | None
    """Approval of the sale, so that the gas it takes is known. None: not approved."""
    at_sale: CallHandle
    """The trader's token balance in the block where a sale would be."""
    later: CallHandle
    """Balance in the block of the late sale."""


class BuySimulation(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of one size, or of the two last resorts."""

    simulation: Simulation
    buys: tuple[SizedBuy, ...]


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
    pool_fee_pct: float | None = None
    """Percent that the pool kept as its fee. None: not known."""
    balances_raw: tuple[RawAmount, RawAmount] | None
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

    @property
    def pool_fee_pct(self) -> float | None:
        """Return the highest fee that the pool kept of a buy, in percent. None: not known."""
        fees = [each.pool_fee_pct for each in self.passed if each.pool_fee_pct is not None]
        return max(fees, default=None)


def write_buys(setup: TradeSetup) -> tuple[BuySimulation, ...]:
    """Return one independent simulation for each ordinary size, and one of the last resorts.

    The largest buyer pays in the wrapped coin, the others in the native coin.
    """
    plenty = wallet_gas(setup)
    gases = (plenty, plenty, little_gas(setup))
    ordinary = (
        _write_ordinary(setup.with_coin(is_wanted=share != _BUY_SHARES[0]), share, gas)
        for share, gas in zip(_BUY_SHARES, gases, strict=True)
    )
    return (*ordinary, _write_last_resorts(setup.with_coin()))


def _write_ordinary(setup: TradeSetup, share: int, gas: int) -> BuySimulation:
    amount_in = part_of_reserve(setup, share)
    buyer = setup.buyer(amount_in)
    builder = SimulationBuilder(setup.blocks)
    buy = _write_size(builder, setup, buyer, amount_in, gas=gas, approves=share == _ESTIMATED_SHARE)
    simulation = build_simulation(setup, builder.blocks(), payers={buyer: amount_in})
    return BuySimulation(simulation=simulation, buys=(buy,))


def _write_last_resorts(setup: TradeSetup) -> BuySimulation:
    """Return an ordinary buy with much gas, and a very small buy.

    They are used where the larger sizes do not pass, and share a simulation and its buyer: a
    reverted buy does not change the next, and after one that passes the next is not used.
    """
    ordinary = part_of_reserve(setup, _ESTIMATED_SHARE)
    crumb = part_of_reserve(setup, _CRUMB_SHARE)
    buyer = setup.buyer(ordinary)
    builder = SimulationBuilder(setup.blocks)
    buys = (
        _write_size(builder, setup, buyer, ordinary, gas=CALL_GAS, prefix="more gas: "),
        _write_size(builder, setup, buyer, crumb, gas=wallet_gas(setup), prefix="crumb: "),
    )
    simulation = build_simulation(setup, builder.blocks(), payers={buyer: ordinary})
    return BuySimulation(simulation=simulation, buys=buys)


def _write_size(
    builder: SimulationBuilder,
    setup: TradeSetup,
    trader: Address,
    amount_in: RawAmount,
    *,
    gas: int,
    approves: bool = False,
    prefix: str = "",
) -> SizedBuy:
    """Write a buy, and reads of the balance in the blocks of a possible sale. `approves`: write
    the approval of the sale, too."""
    token = setup.candidate.token
    opening, approving, selling, last = (builder[at].named(prefix) for at in range(4))
    steps = write_buy(opening, setup, trader, amount_in, gas=gas)
    approval = None
    if approves:
        approval = write_approval(approving, setup, trader, "at sale", UNLIMITED)
    else:
        approving.add(balance_call(token, trader, "balance at approval"))
    at_sale = selling.add(balance_call(token, trader, "balance at sale"))
    return SizedBuy(
        setup=setup,
        gas=gas,
        steps=msgspec.structs.replace(steps, at_sale=at_sale),
        approval=approval,
        at_sale=at_sale,
        later=last.add(balance_call(token, trader, "balance later")),
    )


def read_buys(
    written: Sequence[BuySimulation], results: Sequence[SimulationResult | NotSimulated]
) -> Bought:
    """Return the sizes that passed, with the highest tax. Refused if every size reverted, or an
    ordinary one was paid for and brought nothing."""
    tries = [
        _read_try(buy, result)
        for each, result in zip(written, results, strict=True)
        for buy in each.buys
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
        clear = [
            each.outcome
            for each in passed[1:]
            if each.balances_raw and exceeds_rounding(each.balances_raw[0])
        ]
        return Bought(outcome=highest_taxed([passed[0].outcome, *clear]), passed=passed)
    outcomes = [each.outcome for each in ordinary]
    # The smallest size is the least likely to have reverted for its size.
    return Bought(outcome=unlearnt(outcomes) or outcomes[-1], passed=())


def _read_try(buy: SizedBuy, result: SimulationResult | NotSimulated) -> BuyTry:
    tried = BuyTry(
        amount_in=buy.steps.amount_in,
        gas=buy.gas,
        in_coin=buy.setup.in_coin,
        outcome=result
        if isinstance(result, NotSimulated)
        else read_buy(buy.setup, result, buy.steps),
        balances_raw=None,
    )
    if isinstance(result, NotSimulated) or not isinstance(tried.outcome, Passed):
        return tried
    approval = None if buy.approval is None else result[buy.approval.approve]
    moved = buy.setup.moved(result[buy.steps.buy].logs, is_buy=True)
    return msgspec.structs.replace(
        tried,
        pool_fee_pct=None if moved is None else round(moved.fee_share * 100, 4),
        gas_used=result[buy.steps.buy].gas_used,
        approval_gas_used=approval.gas_used if approval is not None and approval.ok else None,
        balances_raw=_read_balances(buy, result),
    )


def _read_balances(buy: SizedBuy, result: SimulationResult) -> tuple[RawAmount, RawAmount] | None:
    at_sale, later = result.word(buy.at_sale), result.word(buy.later)
    if at_sale is None or later is None:
        return None
    return RawAmount(at_sale), RawAmount(later)


def part_of_reserve(setup: TradeSetup, share: int) -> RawAmount:
    """Return about 1/`share` of the pool's quote reserve."""
    amount = RawAmount(setup.quote_reserve_raw // share)
    return setup.disguise.about(amount, f"{setup.candidate.key}:size {share}")


def estimated_gas(gas_used: int | None) -> int | None:
    """Return the gas limit that a wallet sets after an estimate. None: the gas used is not
    known."""
    return None if gas_used is None else gas_used * (100 + _MARGIN_PCT) // 100 + _FLAT_MARGIN
