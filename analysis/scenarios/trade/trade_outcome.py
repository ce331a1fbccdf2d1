"""Trade outcome: reads one simulated buy or sale as passed with its tax, reverted, or undetermined.

Tax is computed from the pool's own event and from balances, never from the token's events or return
values.
"""

from collections.abc import Sequence
from typing import Final

from analysis.market.venues.trade_route import Moved
from analysis.reads.eth_reads import WORD
from analysis.reads.revert_reason import decode_revert
from analysis.scenarios.trade.trade_setup import TradeSetup
from analysis.scenarios.trade.trade_steps import BuySteps, SaleSteps
from analysis.scenarios.trade.transfer import percent
from analysis.simulation.simulate_v1 import (
    NotSimulated,
    Outcome,
    Passed,
    Refused,
    SimResult,
    SimulationResult,
)
from core.evm.primitives import RawAmount

TAKEN_BY_APPROVAL: Final = "the approval takes the tokens"
BROUGHT_NOTHING: Final = "the buy went through and brought nothing"
TOO_LITTLE: Final = "the buy was too small to bring anything"

HEAVY_TAX_PCT: Final = 50.0
"""Percent from which a tax is a trap."""

_LEAST_AMOUNT_RAW: Final = 1_000
"""Smallest units. Below it, rounding takes shares that look like a tax, or all."""

_LEAST_LOSS_PCT: Final = 1.0

_FEE_OR_TAX: Final = 0.5
"""Share of the input from which a pool's fee counts as tax."""


def read_buy(setup: TradeSetup, result: SimulationResult, steps: BuySteps) -> Outcome:
    """Return the outcome of a buy."""
    paid_with = steps.quote_balance
    if paid_with is not None and (result.word(paid_with) or 0) < steps.amount_in:
        return NotSimulated(missing="FUNDS", reason="the trader could not be given the quote token")
    if steps.router_check is not None and not result[steps.router_check].ok:
        return NotSimulated(missing="POOL", reason="the router does not know this pool")
    buy = result[steps.buy]
    moved = setup.moved(buy.logs, is_buy=True)
    if not buy.ok or moved is None:
        return _not_traded(buy)
    return _read_received(setup, result, steps, moved)


def _read_received(
    setup: TradeSetup, result: SimulationResult, steps: BuySteps, moved: Moved
) -> Outcome:
    before, after = result.word(steps.before), result.word(steps.after)
    if before is None or after is None:
        return Passed(tax=None)
    # A balance that shrinks by the block of the sale counts as not received.
    at_sale = result.word(steps.at_sale)
    arrived = (after if at_sale is None else min(after, at_sale)) - before
    if arrived <= 0:
        is_rounding = 0 < moved.sent < _LEAST_AMOUNT_RAW
        return Refused(reason=TOO_LITTLE if is_rounding else BROUGHT_NOTHING)
    if moved.sent <= 0:
        return Passed(tax=None)
    paid = _router_amounts(result[steps.buy])[0] if setup.route.is_hooked else moved.received
    return Passed(
        tax=_taken((paid, moved.received), (moved.sent, arrived), fee_share=moved.fee_share)
    )


def read_sale(setup: TradeSetup, result: SimulationResult, steps: SaleSteps) -> Outcome:
    """Return the outcome of one attempt to sell."""
    if is_taken_by_approval(result, steps):
        return Refused(reason=TAKEN_BY_APPROVAL)
    if not result.word(steps.before):
        return NotSimulated(missing="FUNDS", reason="the seller does not hold the token")
    sell = result[steps.sell]
    moved = setup.moved(sell.logs, is_buy=False)
    if not sell.ok or moved is None:
        return _not_traded(sell)
    tax = _sale_tax(setup, result, steps, moved)
    return Passed(
        tax=None if tax is None else _with_approval(result, steps, tax),
        loss=_price_loss(result, steps, moved),
    )


def is_taken_by_approval(result: SimulationResult, steps: SaleSteps) -> bool:
    """True if the tokens for a sale were there before its approval, and are not afterwards."""
    before_raw = None if steps.approval is None else result.word(steps.approval.before)
    after_raw = result.word(steps.before)
    if before_raw is None or after_raw is None:
        return False
    return after_raw < steps.order.amount <= before_raw


def _with_approval(result: SimulationResult, steps: SaleSteps, tax: float) -> float:
    """Return the tax, increased by the loss of tokens in the approval before the first attempt."""
    first = steps.first or steps
    before = None if first.approval is None else result.word(first.approval.before)
    left = result.word(first.before)
    if before is None or left is None or left >= before:
        return tax
    return round(100 - (100 - tax) * left / before, 4)


def _sale_tax(
    setup: TradeSetup, result: SimulationResult, steps: SaleSteps, moved: Moved
) -> float | None:
    ordered, got = steps.order.amount, int(moved.sent)
    if setup.route.is_hooked:
        got = _got(setup, result, steps)
        if not got:
            return 100.0
    before, after = result.word(steps.before), result.word(steps.after)
    if before is None or after is None:
        return None
    base = max(before - after, ordered) if setup.route.takes_all else before - after
    # No amounts: a hook made the whole trade itself, so the pool has nothing to compare with.
    if base <= 0 or not (moved.received or moved.sent):
        return None
    loss = _quote_loss(setup, result, steps, share=moved.received / ordered)
    if loss is not None:
        return loss
    arrived = _arrived(setup, result, steps, moved)
    if arrived is None:
        return None
    return _taken((base, arrived), (moved.sent, got), fee_share=moved.fee_share)


def _arrived(
    setup: TradeSetup, result: SimulationResult, steps: SaleSteps, moved: Moved
) -> int | None:
    """Return how much of the token reached the pool. None: not visible."""
    if not setup.route.books_orders:
        return moved.received
    before, after = result.word(steps.pool_before), result.word(steps.pool_after)
    return None if before is None or after is None else after - before


def _got(setup: TradeSetup, result: SimulationResult, steps: SaleSteps) -> int:
    """Return the seller's proceeds in quote units, 0 where they are not visible."""
    return proceeds(setup, result, steps) or 0


def proceeds(setup: TradeSetup, result: SimulationResult, steps: SaleSteps) -> int | None:
    """Return the seller's proceeds in quote units, never below 0. None: not visible."""
    if setup.is_native:
        return _router_amounts(result[steps.sell])[1]
    got = _quote_got(setup, result, steps)
    return None if got is None else max(0, got)


def _router_amounts(swap: SimResult) -> tuple[int, int]:
    """Return the two amounts that our own router returns; see TradeRoute.is_hooked."""
    return int.from_bytes(swap.data[:WORD], "big"), int.from_bytes(swap.data[WORD:], "big")


def _taken(*losses: tuple[int, int], fee_share: float) -> float:
    """Return the percent lost before the pool and after it, compounded.

    Each loss is the amount sent and the amount that arrived. A pool's fee is no tax, unless it
    takes half or more.
    """
    left = 1.0 if fee_share < _FEE_OR_TAX else 1 - fee_share
    for set_out, arrived in losses:
        left *= 1 - max(0, set_out - arrived) / set_out if set_out > 0 else 1
    return round((1 - left) * 100, 4)


def _quote_got(setup: TradeSetup, result: SimulationResult, steps: SaleSteps) -> int | None:
    """Return the seller's proceeds in quote units, which may be below 0. None: not visible."""
    if setup.in_coin and setup.route.read_coins is not None:
        return setup.route.read_coins(result[steps.sell].logs)
    before, after = result.word(steps.quote_before), result.word(steps.quote_after)
    return None if before is None or after is None else after - before


def _quote_loss(
    setup: TradeSetup, result: SimulationResult, steps: SaleSteps, *, share: float
) -> float | None:
    """Return the percent of the sale's value that did not reach the seller, where that cannot be
    slippage.

    A token can ruin the price within its own transfer, by selling fresh tokens into the pool first:
    no amount is lost before or after the pool, yet the proceeds are near zero. None: the seller got
    at least half of the quote for the `share` of the order that the pool received.
    """
    expected = None if steps.expected is None else result[steps.expected]
    if expected is None or not expected.ok:
        return None
    got = _quote_got(setup, result, steps)
    if got is None:
        return None
    worth = int.from_bytes(expected.data[-32:], "big")  # the last of the router's amounts
    return percent(worth - got, worth) if got < worth * share / 2 else None


def _price_loss(result: SimulationResult, steps: SaleSteps, moved: Moved) -> float | None:
    """Return the percent by which the pool paid less than it quoted for what it received.

    A smaller amount gets a better price than quoted, so that the percentage is no less than this.
    None: no quote, below one percent, or half and more, which counts as tax.
    """
    expected = None if steps.expected is None else result[steps.expected]
    if expected is None or not expected.ok:
        return None
    quoted = int.from_bytes(expected.data[-32:], "big") * moved.received // steps.order.amount
    loss = percent(quoted - moved.sent, quoted) if quoted > _LEAST_AMOUNT_RAW else 0.0
    return round(loss, 4) if _LEAST_LOSS_PCT <= loss < HEAVY_TAX_PCT else None


def _not_traded(swap: SimResult) -> Outcome:
    """Return the outcome of a swap that reverted, or that passed without a swap in this pool."""
    if not swap.ok:
        return Refused(reason=decode_revert(swap.data, swap.message))
    return NotSimulated(missing="POOL", reason="the router did not trade in this pool")


def exceeds_rounding(amount: RawAmount) -> bool:
    """True if the amount is large enough that reverts and taxes are not rounding."""
    return amount >= _LEAST_AMOUNT_RAW


def highest_taxed(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the passed outcome with the highest tax. The first, of the largest size, is the most
    exact, so another must be clearly higher."""

    def tax(outcome: Outcome) -> float:
        return -1.0 if not isinstance(outcome, Passed) or outcome.tax is None else outcome.tax

    highest = max(outcomes, key=tax)
    return highest if tax(highest) > tax(outcomes[0]) + _TAX_POINTS else outcomes[0]


_TAX_POINTS: Final = 0.5
"""Percentage points: smaller differences of tax are rounding."""


def unlearnt(outcomes: Sequence[Outcome]) -> NotSimulated | None:
    """Return the first undetermined outcome. None: all are determined."""
    return next((outcome for outcome in outcomes if isinstance(outcome, NotSimulated)), None)
