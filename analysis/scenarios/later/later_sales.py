"""Time-dependent sales: the crowd sells minutes, an hour, a day and thirty days after it bought.

One simulation, written by `later_sales_steps`. A later revert, or a tax of half or more, that did
not occur earlier is a finding. Sends no request.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from analysis.scenarios.later.later_sales_steps import LaterSalesSimulation, MomentSteps
from analysis.scenarios.trade.trade_outcome import HEAVY_TAX_PCT, read_buy, read_sale
from analysis.scenarios.trade.trade_setup import TradeSetup
from analysis.scenarios.trade.trade_steps import SaleSteps
from analysis.scenarios.trade.transfer import TransferResult, read_transfer, unsettled
from analysis.simulation.simulate_v1 import (
    NotSimulated,
    Outcome,
    Passed,
    Refused,
    SimulationResult,
)

VERSION: Final = 2

_TAX_POINTS: Final = 0.01
"""Taxes that differ by no more than this are equal. Percentage points."""


class LaterSale(msgspec.Struct, frozen=True, kw_only=True):
    """One moment and its outcomes."""

    when: str
    block_number: int
    time_s: int
    blocks_left_out: int
    """See SimulatedBlock.left_out."""
    sale: Outcome
    """The worse of the two sales."""
    sales: tuple[Outcome, ...]
    """Outcomes of the ordinary and the small seller; after 30 days also of the account that bought
    then."""
    buy: Outcome | None
    """None: nobody bought then."""
    transfer: TransferResult | None


class LaterSales(msgspec.Struct, frozen=True, kw_only=True):
    """Outcomes of all moments, compared with the first."""

    pool: str
    """Candidate.key of the pool."""
    changes: tuple[str, ...]
    """Differences from the first moment: `+1 day: sale refused`."""
    moments: tuple[LaterSale, ...]
    is_blocked: bool | None
    """True if a sale passed at an earlier moment and reverts at a later one. None: a moment was not
    determined."""
    tax_rises: bool | None
    """True if the tax of a later moment is half or more. None: not determined."""


def read_result(written: LaterSalesSimulation, result: SimulationResult) -> LaterSales:
    """Return the outcomes of all moments, compared with the first."""
    moments = tuple(_read_moment(written.setup, result, steps) for steps in written.moments)
    return LaterSales(
        pool=written.setup.candidate.key,
        changes=tuple(
            f"{moment.when}: {change}"
            for moment in moments[1:]
            for change in _changes(moments[0], moment)
        ),
        moments=moments,
        is_blocked=_is_blocked(moments),
        tax_rises=_tax_rises(moments),
    )


def _read_moment(setup: TradeSetup, result: SimulationResult, steps: MomentSteps) -> LaterSale:
    sales = [_read_seller(setup, result, attempts) for attempts in steps.sales]
    newcomer, bought = steps.newcomer, None
    if newcomer is not None:
        bought = read_buy(setup, result, newcomer.buy)
        if newcomer.sale is not None:
            sold = read_sale(setup, result, newcomer.sale)
            if isinstance(bought, Passed) and isinstance(sold, Passed):
                sales.append(sold)
    return LaterSale(
        when=steps.when,
        block_number=steps.block.number,
        time_s=steps.block.time_s,
        blocks_left_out=steps.block.left_out,
        sale=worst(sales),
        sales=tuple(sales),
        buy=bought,
        transfer=_read_transfer(result, steps),
    )


def _read_seller(
    setup: TradeSetup, result: SimulationResult, attempts: Sequence[SaleSteps]
) -> Outcome:
    """Return the outcome of one seller's attempts. A balance that shrank by itself counts as a tax.
    Half that sells where all of it does not is no sale, unless the balance had shrunk."""
    outcomes = [read_sale(setup, result, each) for each in attempts]
    before, amount = result.word(attempts[0].before), attempts[0].order.amount
    kept = 1.0 if before is None else min(before, amount) / amount
    for each, outcome in zip(attempts, outcomes, strict=True):
        if isinstance(outcome, Passed) and (each.order.share != "half" or kept < 1):
            if outcome.tax is None:
                return outcome
            return Passed(tax=round(100 - (100 - outcome.tax) * kept, 4))
    if before is not None and not before:
        return Refused(reason="what was bought is gone")
    return next((each for each in outcomes if isinstance(each, Refused)), outcomes[0])


def _read_transfer(result: SimulationResult, steps: MomentSteps) -> TransferResult | None:
    if steps.newcomer is None:
        return None
    if steps.transfer is None:
        return unsettled("there was nothing to send")
    return read_transfer(result, steps.transfer)


def worst(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the first revert, else the highest tax, else the first outcome that was not
    determined."""
    refused = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    passed = [outcome for outcome in outcomes if isinstance(outcome, Passed)]
    if refused:
        return refused[0]
    if passed:
        return max(passed, key=lambda outcome: -1.0 if outcome.tax is None else outcome.tax)
    missing = NotSimulated(missing="FUNDS", reason="nobody held anything to sell")
    return next(iter(outcomes), missing)


def _is_blocked(moments: Sequence[LaterSale]) -> bool | None:
    """True if a sale passed and a later one reverts, or the last reverts: a waiting time after the
    buy reverts at first only, a trap later. None: not determined."""
    has_passed = False
    for moment in moments:
        if isinstance(moment.sale, Refused) and (has_passed or moment is moments[-1]):
            return True
        has_passed |= any(isinstance(sale, Passed) for sale in moment.sales)
    return None if any(isinstance(moment.sale, NotSimulated) for moment in moments) else False


def _tax_rises(moments: Sequence[LaterSale]) -> bool | None:
    taxes = [moment.sale.tax for moment in moments[1:] if isinstance(moment.sale, Passed)]
    if any(tax is not None and tax >= HEAVY_TAX_PCT for tax in taxes):
        return True
    return False if len(taxes) == len(moments) - 1 and None not in taxes else None


def _changes(now: LaterSale, then: LaterSale) -> Iterator[str]:
    pairs = [("sale", now.sale, then.sale)]
    if now.buy is not None and then.buy is not None:
        pairs.insert(0, ("buy", now.buy, then.buy))
    for act, before, after in pairs:
        if _word(before) != _word(after):
            yield f"{act} {_word(after)}"
        elif isinstance(before, Passed) and isinstance(after, Passed):
            yield from _tax_change(f"{act} tax", before.tax, after.tax)
    if now.transfer is not None and then.transfer is not None:
        yield from _transfer_changes(now.transfer, then.transfer)


def _transfer_changes(now: TransferResult, then: TransferResult) -> Iterator[str]:
    if now.success != then.success:
        word = {True: "passed", False: "refused", None: "not learnt"}[then.success]
        yield f"transfer {word}"
    yield from _tax_change("send tax", now.send_tax, then.send_tax)
    yield from _tax_change("receive tax", now.receive_tax, then.receive_tax)


def _tax_change(what: str, before: float | None, after: float | None) -> Iterator[str]:
    if before is not None and after is not None and abs(after - before) > _TAX_POINTS:
        yield f"{what} {after:g} %, not {before:g} %"


def _word(outcome: Outcome) -> str:
    if isinstance(outcome, Passed):
        return "passed"
    return "refused" if isinstance(outcome, Refused) else "not learnt"
