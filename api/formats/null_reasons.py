"""Reasons for null answers: one sentence per null key of the native format or summary check.

Pure.
"""

from collections.abc import Callable, Iterator
from typing import Final

from api.formats.shapes import NativeFeatures, Pool
from core.report import PoolResultRow, Report, StaticFindings

_NOT_FOLLOWED: Final = "the bytecode was not followed to its end, so neither answer is proved"
_NOT_PLAYED: Final = "the node did not play what would settle it"
_NO_SALE: Final = "no sale passes today, or the node did not play what would settle it"
_NOT_ASKED: Final = "not among the pools that are simulated, the deepest ones"
_CREATION: Final = "the transaction that created the token was not found"

_PLAIN: Final = {
    "owner_address": "no owner getter answered",
    "ownership_renounced": "no owner getter answered, and a wallet is in an owner-check slot",
    "is_open_source": "no service that publishes sources answered",
    "has_open_source_implementation": "no service answered for the implementation",
    "is_liquid": "what some pool holds is not known, or pools were not resolved",
    "is_in_dex": "pools were not resolved",
    "cannot_buy": "no buy was settled in any pool",
    "is_launchpad_token": "no launch platform could be asked",
    "launchpad_name": "the platform has no name that is known",
    "creator_address": _CREATION,
    "creator_balance": _CREATION,
    "creator_percent": _CREATION,
}

_OF_REPORT: Final = {
    "sell_blocked_later": _NO_SALE,
    "sell_tax_rises": _NO_SALE,
    "sell_depends_on_size": _NO_SALE,
    "sell_blocked_after_others": _NO_SALE,
    "sell_depends_on_conditions": _NO_SALE,
    "untested_conditions": "the code's conditions are not all known, or nothing was traded",
    "hidden_owner_controls": _NOT_FOLLOWED,
    "unproved_custody": _NOT_FOLLOWED,
    "creates_balances": _NOT_FOLLOWED,
}

_IN_FORCE: Final = {
    "has_trading_cap": "has_trading_cap_functionality",
    "has_position_cap": "has_position_cap_functionality",
}
_LISTS: Final = ("balance_update_function", "allowance_update_function")


def unknowns(report: Report, native: NativeFeatures) -> dict[str, str]:
    """Return the reason for each null key. A pool's keys are `dex.<pool>.<key>`. Pending answers
    are left out."""
    return dict((*_of_native(report, native), *_of_pools(report, native), *_of_report(report)))


def _of_native(report: Report, native: NativeFeatures) -> Iterator[tuple[str, str]]:
    for key in NativeFeatures.__struct_fields__:
        if getattr(native, key) is None and not _is_beside_the_point(native, key):
            yield key, _reason(report, key)
    for key in _LISTS:
        if getattr(report.static, key) is None:
            yield key, f"empty, though not every function was followed: {_NOT_FOLLOWED}"


def _is_beside_the_point(native: NativeFeatures, key: str) -> bool:
    """True if null means that the key does not apply."""
    match key:
        case "has_open_source_implementation":
            return native.is_proxy is False
        case "launchpad_name":
            return native.is_launchpad_token is not True
        case "timebomb_status":
            return native.timebomb is False
    return False


def _reason(report: Report, key: str) -> str:
    if key in _IN_FORCE:
        is_known = getattr(report.static, _IN_FORCE[key]) is not None
        return "what storage holds did not settle it" if is_known else _NOT_FOLLOWED
    if key in StaticFindings.__struct_fields__ or key == "timebomb_status":
        return _NOT_FOLLOWED
    of_plays = _OF_PLAYS.get(key)
    return _PLAIN[key] if of_plays is None else of_plays(report)


def _of_transfer(report: Report) -> str:
    token = report.token
    if token.transfer_success is False:
        return "the transfer fails, so nothing is taken from it"
    if token.transfer_success:
        return "the transfer passes, and its balances do not tell a tax"
    if any(row.key == "transfer" for row in report.evidence):
        return "the check settled nothing: see `transfer` in the evidence"
    if token.transfer_checked_at_s is not None:
        return "neither a holder nor a funded wallet was at hand to send with"
    return _NOT_PLAYED


def _of_custody(key: str) -> Callable[[Report], str]:
    def reason(report: Report) -> str:
        if any(row.key == f"{key}:open" for row in report.evidence):
            return f"a store's custody is not proved: see `{key}:open` in the evidence"
        return f"{_NOT_PLAYED}, no wallet was at hand to steal from, or {_NOT_FOLLOWED}"

    return reason


_OF_PLAYS: Final[dict[str, Callable[[Report], str]]] = {
    "transfer_success": _of_transfer,
    "send_tax": _of_transfer,
    "receive_tax": _of_transfer,
    "allowance_bypass": _of_custody("allowance_bypass"),
    "funds_can_be_drained": _of_custody("funds_can_be_drained"),
}


def _of_pools(report: Report, native: NativeFeatures) -> Iterator[tuple[str, str]]:
    rows = {(row.pool_id or row.pool).lower(): row for row in report.pools or ()}
    for pool in native.dex:
        name = (pool.pool_id or pool.pair).lower()
        row = rows[name]
        if pool.liquidity is None:
            yield f"dex.{name}.liquidity", row.error_message or "what it holds is not known"
        for side in ("buy", "sell"):
            yield from _of_side(f"dex.{name}.{side}", row, pool, side)


def _of_side(name: str, row: PoolResultRow, pool: Pool, side: str) -> Iterator[tuple[str, str]]:
    success = getattr(pool, f"{side}_success")
    if success is None:
        yield f"{name}_success", row.error_message or _NOT_ASKED
    if getattr(pool, f"{side}_tax") is None:
        told = {
            True: "the trade passes, and its amounts do not tell a tax",
            False: "the trade fails, so nothing is taken from it",
        }
        yield f"{name}_tax", told.get(success) or row.error_message or _NOT_ASKED


def _of_report(report: Report) -> Iterator[tuple[str, str]]:
    for key, reason in _OF_REPORT.items():
        if getattr(report.token, key) is None:
            yield key, reason
