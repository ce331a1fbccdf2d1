"""Comparison of one real trade or transfer with a report's prediction. Pure."""

from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from core.report.accuracy import TOLERANCE_POINTS, PredictionFlag, is_near
from indexer.watched.real_trades import TAKES_TAX, RealTrade, SwapReading
from sql.engine.columns import blob
from sql.reports.accuracy_counts import PredictedPool, PredictedTransfer, address_of

PredictionResult = Literal["agreed", "disagreed", "open", "uncounted"]
"""open: a difference for which the trader may be the reason."""

_TAX_DECIMALS: Final = 4


class PredictionCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One prediction for one trade or transfer, with its outcome."""

    flag: PredictionFlag
    result: PredictionResult
    predicted: str
    """passed or refused; for a tax, percent as decimal text."""
    observed: str
    """passed; for a tax, percent as decimal text. Empty: unknown."""


def check_swap(
    reading: SwapReading, predicted: PredictedPool, *, is_alone: bool
) -> Iterator[PredictionCheck]:
    """Yield checks of the predictions for a swap's side; nothing for a side without one.

    `is_alone` False: others traded the token in the same transaction, so nothing is certain.
    """
    is_buy = reading.side == "buy"
    outcome = predicted.buy if is_buy else predicted.sell
    tax_pct = predicted.buy_tax if is_buy else predicted.sell_tax
    trade = reading.trade if is_alone else None
    if trade is not None and _is_special(trade, predicted):
        trade = None
    success: PredictionFlag = "buy_success" if is_buy else "sell_success"
    tax: PredictionFlag = "buy_tax" if is_buy else "sell_tax"
    if outcome == "refused":
        result: PredictionResult = "uncounted" if trade is None else "open"
        yield _passed(success, result, predicted="refused")
    if outcome != "passed":
        return
    result = "uncounted" if trade is None else "agreed"
    yield _passed(success, result, predicted="passed")
    if tax_pct is not None:
        paid_pct = None if trade is None else trade.tax_pct
        yield PredictionCheck(
            flag=tax,
            result="uncounted"
            if trade is None or paid_pct is None
            else _tax_result(trade, paid_pct, tax_pct, predicted),
            predicted=_percent(tax_pct),
            observed="" if paid_pct is None else _percent(paid_pct),
        )


def check_transfer(
    sender: bytes, recipient: bytes, predicted: PredictedTransfer
) -> PredictionCheck:
    """Return the check of a transfer that is the only one of its token in its transaction."""
    special = {address_of(predicted.owner), address_of(predicted.creator)}
    special |= TAKES_TAX | {blob(predicted.token)}
    if sender in special or recipient in special:
        result: PredictionResult = "uncounted"
    else:
        result = "agreed" if predicted.transfer_success else "open"
    return _passed(
        "transfer_success", result, predicted="passed" if predicted.transfer_success else "refused"
    )


def _is_special(trade: RealTrade, predicted: PredictedPool) -> bool:
    """True if tokens treat the trader specially, or the trader got more than the pool paid."""
    known = {address_of(predicted.owner), address_of(predicted.creator)}
    tax_pct = trade.tax_pct
    return trade.trader in known or (tax_pct is not None and tax_pct < -TOLERANCE_POINTS)


def _tax_result(
    trade: RealTrade, paid_pct: float, tax_pct: float, predicted: PredictedPool
) -> PredictionResult:
    if is_near(paid_pct, tax_pct):
        return "agreed"
    if paid_pct < tax_pct:
        return "open"  # the trader may be exempt
    # Tokens that a seller sends elsewhere may be a payment, not a tax.
    is_tax = trade.others <= TAKES_TAX | {blob(predicted.token)}
    return "disagreed" if is_tax else "open"


def _passed(flag: PredictionFlag, result: PredictionResult, *, predicted: str) -> PredictionCheck:
    return PredictionCheck(flag=flag, result=result, predicted=predicted, observed="passed")


def _percent(tax_pct: float) -> str:
    return str(round(tax_pct, _TAX_DECIMALS))
