"""Changes of a report that watchers are notified of. Pure.

Reports are compared with the state of the last notification, not with the previous report: a change
that a reorg reverts and repeats is sent once, and one that it reverts for good is sent back.
"""

from collections.abc import Iterable
from typing import Final, Literal, get_args

import msgspec

from core.evm.primitives import Address, Hash32
from core.report.report import Report
from core.report.report_changes import Change, ReportState, changes_between
from core.report.verdict import ReportVerdict

ChangeKind = Literal[
    "verdict", "trading", "tax", "owner", "deadline", "liquidity", "flags", "identity"
]
"""Kind of a change.

verdict: the verdict. trading: whether the token can be bought and sold. tax: taxes of trades and
transfers. owner: the owner, and the code behind a proxy. deadline: times in the code. liquidity:
of all pools, by a tenth or more. flags: the checks. identity: name and symbol.
"""

ALL_KINDS: Final[tuple[ChangeKind, ...]] = get_args(ChangeKind)

BASELINE: Final = "baseline"
"""Kind of a message about the first settled report of a watched token. Selected like a change."""

REFUSED: Final = "refused"
"""Stands for a verdict: the address is no longer a token."""

ObservationKind = Literal[
    "call",
    "owner_call",
    "parameter_event",
    "ownership_event",
    "pool_created",
    "liquidity",
    "state",
    "failed_trade",
    "other_tax",
    "deadline",
    "gap",
]
"""Kind of an observation on the chain.

call: of a function that holders do not use, by any account; owner_call: by the owner that the
report names. parameter_event, ownership_event: a log of the token. pool_created: for the token.
liquidity: a pool's holdings moved by a tenth. state: a storage word that the report depends on
changed. failed_trade: a transaction at a router or pool that names the token. other_tax: a trade
that paid another tax than the report predicts. deadline: a time that the code compares the clock
with has come. gap: blocks that were not read one by one.
"""

LEAST_TAX_MOVE: Final = 0.1
"""Percentage points by which a tax must move to count: simulated amounts are rounded, and a pool
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


class ChangeCause(msgspec.Struct, frozen=True, kw_only=True):
    """One observation that preceded a change. It is not known to have led to it."""

    kind: ObservationKind
    block_number: int
    tx_hash: Hash32 | None
    """None: no single transaction is known."""
    sender: Address | None
    """Signer of the transaction. None: not known."""
    what: str
    """A function, an event, a storage slot or a pool, by kind."""
    detail: str | None
    """Values, or a reason. None: there are none."""


class WatchEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Content of a notification about a token, the same for all its watchers."""

    name: str | None
    symbol: str | None
    headline: str | None
    """One sentence about what is wrong. None: there is none for this verdict."""
    verdict_before: str | None
    """None: this is the first notification."""
    verdict: str
    reasons: tuple[str, ...]
    """All causes of the verdict."""
    changes: tuple[Change, ...]
    """Changes of all kinds since the last notification. None as a value: unknown."""
    causes: tuple[ChangeCause, ...] = ()
    """Observations since the previous report, newest first, up to a limit."""


def kind_of(what: str) -> ChangeKind | None:
    """Return the kind of a change. None: it causes no notification, like the verdict's reasons."""
    return "flags" if what.startswith(_FLAG) else _KINDS.get(what)


def notable_changes(last: ReportState, new: ReportState) -> list[Change]:
    """Return the changes since the state of the last notification.

    A value that is no longer known is no change, except for the verdict: a node that fails briefly
    takes away values of every kind and brings them back. A value that is known again is compared
    with the last known one.
    """
    return [
        change
        for change in changes_between(last, new)
        if kind_of(change.what) is not None
        and (change.after is not None or change.what == _VERDICT)
        and not _is_rounding(change)
    ]


def notified_state(last: ReportState | None, new: ReportState) -> ReportState:
    """Return the state that the next report is compared with.

    Unknown values keep the last known value; those that moved too little, the last notified one.
    """
    if last is None:
        return new
    moved = {change.what: change.after for change in notable_changes(last, new)}
    kept = {what: last[what] for what, value in new.items() if what in last and what != _REASONS}
    return {**new, **kept, **moved}


def has_kind(changes: Iterable[Change], kinds: Iterable[str]) -> bool:
    """True if one of the changes is of one of these kinds."""
    selected = set(kinds)
    return any(kind_of(change.what) in selected for change in changes)


def report_event(
    last: ReportState | None,
    new: ReportState,
    *,
    report: Report,
    report_verdict: ReportVerdict,
    causes: Iterable[ChangeCause],
) -> WatchEvent:
    """Return the notification about a report. `last` is None before the first one."""
    return WatchEvent(
        name=report.token.name,
        symbol=report.token.symbol,
        headline=report_verdict.headline,
        verdict_before=None if last is None else last[_VERDICT],
        verdict=report_verdict.verdict,
        reasons=report_verdict.reasons,
        changes=() if last is None else tuple(notable_changes(last, new)),
        causes=tuple(causes),
    )


def baseline_event(event: WatchEvent, new: ReportState) -> WatchEvent:
    """Return the first notification of a watch: all known values, as changes from unknown."""
    known = tuple(
        Change(what, None, value)
        for what, value in new.items()
        if value is not None and kind_of(what) is not None
    )
    return msgspec.structs.replace(event, verdict_before=None, changes=known, causes=())


def refusal_event(last: ReportState, code: str) -> WatchEvent:
    """Return the notification that an address is refused as a token."""
    return WatchEvent(
        name=last.get("name"),
        symbol=last.get("symbol"),
        headline=None,
        verdict_before=last[_VERDICT],
        verdict=REFUSED,
        reasons=(code,),
        changes=(Change(_VERDICT, last[_VERDICT], REFUSED),),
    )


def refused_state(last: ReportState, code: str) -> ReportState:
    """Return the state after the notification of a refusal."""
    return {**last, _VERDICT: REFUSED, _REASONS: code}


def _is_rounding(change: Change) -> bool:
    if kind_of(change.what) != "tax" or change.before is None or change.after is None:
        return False
    return abs(float(change.after) - float(change.before)) < LEAST_TAX_MOVE
