"""Reasons for null answers: one sentence per null key of the native format or summary check.

A field declares its reason; this module adds those that depend on the rest of the report. Pure.
"""

from collections.abc import Callable, Iterator
from typing import Final

from api.formats.native.field_table import FIELDS
from api.formats.native.shapes import NativeFeatures, Pool
from core.report.fields.field import NOT_FOLLOWED, fields_of, list_keys
from core.report.fields.scan_findings import ScanFindings
from core.report.fields.static_findings import StaticFindings
from core.report.report import PoolResultRow, Report

_NOT_PLAYED: Final = "the node did not run the simulation that would answer this"
_NOT_ASKED: Final = "not among the pools that are simulated, the deepest ones"

_IN_FORCE: Final = {
    "has_trading_cap": "has_trading_cap_functionality",
    "has_position_cap": "has_position_cap_functionality",
}


def unknowns(report: Report, native: NativeFeatures) -> dict[str, str]:
    """Return the reason for each null key. A pool's keys are `dex.<pool>.<key>`. Pending answers
    are left out."""
    return dict((*_of_native(report, native), *_of_pools(report, native), *_of_report(report)))


def _of_native(report: Report, native: NativeFeatures) -> Iterator[tuple[str, str]]:
    for key in NativeFeatures.__struct_fields__:
        if getattr(native, key) is None and not _is_beside_the_point(report, native, key):
            yield key, _reason(report, key)
    for key in list_keys(StaticFindings):
        if getattr(report.static, key) is None:
            yield key, f"empty, though not every function was followed: {NOT_FOLLOWED}"


def _is_beside_the_point(report: Report, native: NativeFeatures, key: str) -> bool:
    """True if null means that the key does not apply."""
    match key:
        case "has_open_source_implementation":
            return report.static.is_proxy is False
        case "launchpad_name":
            return native.is_launchpad_token is not True
        case "timebomb_status":
            return native.timebomb is False
    return False


def _reason(report: Report, key: str) -> str:
    if key in _IN_FORCE:
        is_known = getattr(report.static, _IN_FORCE[key]) is not None
        return "the values in storage do not answer it" if is_known else NOT_FOLLOWED
    of_plays = _OF_PLAYS.get(key)
    return FIELDS[key].null if of_plays is None else of_plays(report)


def _of_transfer(report: Report) -> str:
    token = report.token
    if token.transfer_success is False:
        return "the transfer fails, so nothing is taken from it"
    if token.transfer_success:
        return "the transfer works, but its balances do not show a tax"
    if any(row.key == "transfer" for row in report.evidence):
        return "the check gave no answer: see `transfer` in the evidence"
    if token.transfer_checked_at_s is not None:
        return "no holder and no funded wallet was available to send from"
    return _NOT_PLAYED


def _of_custody(key: str) -> Callable[[Report], str]:
    def reason(report: Report) -> str:
        if any(row.key == f"{key}:open" for row in report.evidence):
            return f"a store's custody is not proved: see `{key}:open` in the evidence"
        return f"{_NOT_PLAYED}, no wallet was available to try a theft on, or {NOT_FOLLOWED}"

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
        reasons = {
            True: "the trade works, but its amounts do not show a tax",
            False: "the trade fails, so nothing is taken from it",
        }
        yield f"{name}_tax", reasons.get(success) or row.error_message or _NOT_ASKED


def _of_report(report: Report) -> Iterator[tuple[str, str]]:
    for key, field in fields_of(ScanFindings).items():
        if not field.is_native and getattr(report.scan, key) is None:
            yield key, field.null
