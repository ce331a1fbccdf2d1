"""History of a report: its recorded values, and the differences of two reports.

Values are text; None is unknown.
"""

import math
from typing import Final

import msgspec

from core.report.report import Report
from core.report.verdict import ReportVerdict

LEAST_MOVE: Final = 0.1
"""Share by which liquidity must move to count as changed: nearly every trade moves it a little."""

_LIQUIDITY = "liquidity_usd"
_TAX_DIGITS = 2
_DOLLAR_DIGITS = 2

ReportState = dict[str, str | None]
"""Recorded values of a report by name. A check is `flag.` and its key."""


class Change(msgspec.Struct, frozen=True, array_like=True):
    """One difference of a report from the one before."""

    what: str
    before: str | None
    after: str | None


def state_of(report: Report, report_verdict: ReportVerdict) -> ReportState:
    """Return what is written down of a report."""
    head = report.token
    return {
        "verdict": report_verdict.verdict,
        "verdict_reasons": " ".join(report_verdict.reasons),
        _LIQUIDITY: _number(report_verdict.liquidity_usd, _DOLLAR_DIGITS),
        "can_buy": _truth(report_verdict.can_buy),
        "can_sell": _truth(report_verdict.can_sell),
        "buy_tax": _number(report_verdict.buy_tax, _TAX_DIGITS),
        "sell_tax": _number(report_verdict.sell_tax, _TAX_DIGITS),
        "send_tax": _number(head.send_tax, _TAX_DIGITS),
        "receive_tax": _number(head.receive_tax, _TAX_DIGITS),
        "name": head.name,
        "symbol": head.symbol,
        "owner_address": head.owner_address,
        "ownership_renounced": _truth(head.ownership_renounced),
        "implementation": head.implementation,
        "timebomb_status": head.timebomb_status,
        "deadlines": " ".join(report_verdict.deadlines),
        **{f"flag.{check.key}": _truth(check.value) for check in report_verdict.checks},
    }


def changes_between(before: ReportState, after: ReportState) -> list[Change]:
    """Return what differs. What only one of them knows of, as a check of another release, does not
    count, nor does liquidity that moved by less than a tenth."""
    return [
        Change(what, before[what], value)
        for what, value in after.items()
        if what in before and before[what] != value and not _is_slight(what, before[what], value)
    ]


def apply_changes(state: ReportState, changes: list[Change]) -> ReportState:
    """Return the state after changes."""
    return {**state, **{change.what: change.after for change in changes}}


def undo_changes(state: ReportState, changes: list[Change]) -> ReportState:
    """Return the state before changes."""
    return {**state, **{change.what: change.before for change in reversed(changes)}}


def _is_slight(what: str, before: str | None, after: str | None) -> bool:
    if what != _LIQUIDITY or before is None or after is None:
        return False
    return abs(float(after) - float(before)) < LEAST_MOVE * float(before)


def _number(value: float | None, digits: int) -> str | None:
    if value is None or not math.isfinite(value):
        return None
    return f"{round(value, digits):g}" if abs(value) < 1 else f"{value:.{digits}f}"


def _truth(value: bool | None) -> str | None:
    return None if value is None else str(value).lower()
