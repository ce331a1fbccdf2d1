"""Changes of a report that are worth a notification, by kind. Pure."""

from collections.abc import Iterable, Iterator
from typing import Final, Literal, get_args

from core.report.report_changes import Change, ReportState, changes_between

ChangeKind = Literal[
    "verdict", "trading", "tax", "owner", "deadline", "liquidity", "flags", "identity"
]
"""A kind of change.

verdict: the verdict. trading: whether the token can be bought and sold. tax: taxes of trades and
transfers. owner: the owner, and the code behind a proxy. deadline: moments in the code. liquidity:
of all pools, by a tenth and more. flags: the checks. identity: name and symbol.
"""

ALL_KINDS: Final[tuple[ChangeKind, ...]] = get_args(ChangeKind)

BASELINE: Final = "baseline"
"""Asked for like a kind: a message about the first settled report of a token that is watched."""

LEAST_TAX_MOVE: Final = 0.1
"""Percentage points by which a tax must move to be told: simulated amounts are rounded, and a pool
that moves between two simulations moves the last digits."""

_REASONS = "verdict_reasons"
_VERDICT = "verdict"
_FLAG = "flag."

_KINDS: Final[dict[str, ChangeKind]] = {
    _VERDICT: "verdict",
    "can_buy": "trading",
    "can_sell": "trading",
    **dict.fromkeys(("buy_tax", "sell_tax", "send_tax", "receive_tax"), "tax"),
    **dict.fromkeys(("owner_address", "ownership_renounced", "implementation"), "owner"),
    **dict.fromkeys(("timebomb_status", "deadlines"), "deadline"),
    "liquidity_usd": "liquidity",
    "name": "identity",
    "symbol": "identity",
}


def kind_of(what: str) -> ChangeKind | None:
    """Return the kind of a change. None: it is not told by itself, as the reasons of a verdict."""
    return "flags" if what.startswith(_FLAG) else _KINDS.get(what)


def told_changes(told: ReportState, new: ReportState) -> list[Change]:
    """Return what a report says differently from what was told last.

    What is not known any more is no change, but for the verdict: a node that fails for a moment
    takes away answers of every kind, and brings them back. When the answer is known again it is
    compared with the last known one.
    """
    return [
        change
        for change in changes_between(told, new)
        if kind_of(change.what) is not None
        and (change.after is not None or change.what == _VERDICT)
        and not _is_rounding(change)
    ]


def state_told(told: ReportState | None, new: ReportState) -> ReportState:
    """Return what the next report is compared with, once this one was told.

    What is not known keeps its last known value, what moved too little the value that was told.
    """
    if told is None:
        return new
    moved = {change.what: change.after for change in told_changes(told, new)}
    kept = {what: told[what] for what, value in new.items() if what in told and what != _REASONS}
    return {**new, **kept, **moved}


def wanted(changes: Iterable[Change], kinds: Iterable[str]) -> list[Change]:
    """Return the changes of these kinds."""
    asked = set(kinds)
    return [change for change in changes if kind_of(change.what) in asked]


def known_of(state: ReportState) -> Iterator[Change]:
    """Yield everything that a first report knows, as a change from unknown."""
    for what, value in state.items():
        if value is not None and kind_of(what) is not None:
            yield Change(what, None, value)


def _is_rounding(change: Change) -> bool:
    if kind_of(change.what) != "tax" or change.before is None or change.after is None:
        return False
    return abs(float(change.after) - float(change.before)) < LEAST_TAX_MOVE
