"""The native format: converts a report to features, with units, current clock and owner gate."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from analysis.token import timebomb_status
from analysis.token.contract_clock import ContractClock
from api.formats.amounts import share_pct, truncated_pct, whole_tokens
from api.formats.native.shapes import Deadline, Holder, NativeFeatures, Pool
from api.formats.times import iso_utc
from config.facts.pool_family import KINDS
from core.evm.primitives import checksum
from core.report.fields.field import Pending, fields_of, list_keys
from core.report.fields.scan_findings import ScanFindings
from core.report.fields.static_findings import StaticFindings
from core.report.report import HolderRow, PoolResultRow, Report, ReportRow, TradeOutcome

TOP_HOLDERS = 10

_OUTCOMES: dict[TradeOutcome | None, bool | Pending | None] = {
    "passed": True,
    "refused": False,
    "pending": "pending",
    None: None,
}

_OWNER_GATED = [key for key, field in fields_of(StaticFindings).items() if field.is_owner_gated]

_NATIVE_SCAN = [key for key, field in fields_of(ScanFindings).items() if field.is_native]


def render_native(
    report: Report, *, clock: ContractClock | None, liquid_above_usd: float
) -> NativeFeatures:
    """Build the native features of a report at the given clock. A clock of None is unknown.

    A pool counts as liquid above `liquid_above_usd`, not at it.
    """
    return NativeFeatures(
        **_static_fields(report, clock),
        **{key: getattr(report.scan, key) for key in _NATIVE_SCAN},
        **_simulation_fields(report.token),
        **_market_fields(report, liquid_above_usd),
        **_supply_fields(report.token, report.holders),
        **_identity_fields(report.token, report.holders),
    )


# --- static analysis -------------------------------------------------------------------------


def _static_fields(report: Report, clock: ContractClock | None) -> dict[str, Any]:
    token = report.token
    return {
        **msgspec.structs.asdict(report.static),
        # Lists have no null; the evidence shows if one is incomplete.
        **{key: getattr(report.static, key) or () for key in list_keys(StaticFindings)},
        **_owner_gate(report.static, ownership_renounced=token.ownership_renounced),
        "owner_address": None if token.owner_address is None else checksum(token.owner_address),
        "ownership_renounced": token.ownership_renounced,
        **_timebomb(report, clock),
        "is_open_source": token.is_open_source,
        "has_open_source_implementation": token.has_open_source_implementation,
    }


def _owner_gate(
    static: StaticFindings, *, ownership_renounced: bool | None
) -> dict[str, bool | Pending | None]:
    """Return the owner-gated flags: a true one becomes false once ownership is renounced."""
    gone = ownership_renounced is True
    found = {key: getattr(static, key) for key in _OWNER_GATED}
    return {key: False if gone and flag is True else flag for key, flag in found.items()}


def _timebomb(report: Report, clock: ContractClock | None) -> dict[str, Any]:
    token = report.token
    answer = timebomb_status.find_status(
        report.static.timebomb,
        report.clock_limits,
        clock=clock,
        can_change=timebomb_status.storage_can_change(
            ownership_renounced=token.ownership_renounced,
            owner_slots_vacant=token.owner_slots_vacant,
        ),
    )
    return {
        "timebomb": answer.found,
        "timebomb_status": answer.status,
        "timebomb_deadlines": tuple(map(_deadline, answer.deadlines)),
    }


def _deadline(placed: timebomb_status.TimebombDeadline) -> Deadline:
    return Deadline(
        source=placed.source,
        slot=placed.slot,
        clock=placed.clock,
        value=placed.value,
        passed=placed.passed,
        estimated_unix_time=placed.reached_at_s,
    )


# --- simulation and market -------------------------------------------------------------------


def _simulation_fields(token: ReportRow) -> dict[str, Any]:
    assessed = token.owner_can_change_balance
    return {
        "transfer_success": token.transfer_success,
        "send_tax": token.send_tax,
        "receive_tax": token.receive_tax,
        "allowance_bypass": token.allowance_bypass,
        "privileged_spenders": tuple(map(checksum, token.privileged_spenders)),
        "funds_can_be_drained": token.funds_can_be_drained,
        "owner_can_change_balance": msgspec.UNSET if assessed is None else assessed,
    }


def _market_fields(report: Report, liquid_above_usd: float) -> dict[str, Any]:
    pools = report.pools
    deepest_first = sorted(pools or (), key=lambda pool: (-pool.liquidity_usd, pool.ordinal))
    named, launchpad = _launchpad(report)
    return {
        "is_liquid": has_more_than(liquid_above_usd, pools, lambda pool: pool.quote_side_usd),
        "is_in_dex": None if pools is None else any(pool.kind in KINDS for pool in pools),
        "dex": tuple(map(_pool, deepest_first)),
        "cannot_buy": cannot_buy(pools or ()),
        "is_launchpad_token": named,
        "launchpad_name": launchpad,
    }


def has_more_than(
    usd: float, pools: Sequence[PoolResultRow] | None, amount: Callable[[PoolResultRow], float]
) -> bool | None:
    """True if the amount of some pool is above `usd`. None: pools were not resolved; or none is
    above, and one's amount is not known, or may still be proved by a pending trade."""
    if pools is None:
        return None
    if any(amount(pool) > usd for pool in pools):
        return True
    is_open = any(not pool.is_valued or pool.buy == "pending" for pool in pools)
    return None if is_open else False


def _pool(row: PoolResultRow) -> Pool:
    return Pool(
        pair=checksum(row.pool),
        liquidity_type=row.kind,
        liquidity=row.liquidity_usd if row.is_valued else None,
        buy_success=_OUTCOMES[row.buy],
        buy_tax="pending" if row.buy == "pending" else row.buy_tax,
        sell_success=_OUTCOMES[row.sell],
        sell_tax="pending" if row.sell == "pending" else row.sell_tax,
        error_message=row.error_message,
        error_code=row.error_code,
        pool_id=row.pool_id,
        is_launchpad=row.is_launchpad,
    )


def cannot_buy(pools: tuple[PoolResultRow, ...]) -> bool | None:
    """True if every settled buy failed, False if one passed, None if no buy has settled."""
    settled = [pool.buy for pool in pools if pool.buy in ("passed", "refused")]
    return None if not settled else "passed" not in settled


def _launchpad(report: Report) -> tuple[bool | None, str | None]:
    """Return whether a launchpad issued the token, and its name. Without any pool, False becomes
    None."""
    is_launchpad = report.token.is_launchpad_token
    if is_launchpad:
        return True, report.token.launchpad_name or "launchpad"
    return (is_launchpad if report.pools else None), None


# --- supply and identity ---------------------------------------------------------------------


def _supply_fields(token: ReportRow, holders: tuple[HolderRow, ...]) -> dict[str, Any]:
    supply = whole_tokens(token.supply_raw, decimals=token.decimals)
    circulating_raw = token.supply_raw - token.burned_raw
    return {
        "decimals": token.decimals,
        "supply": supply,
        "normalized_supply": supply,
        "burned_supply": whole_tokens(token.burned_raw, decimals=token.decimals),
        "burned_supply_pct": truncated_pct(token.burned_raw, of_raw=token.supply_raw),
        "circulating_supply": whole_tokens(circulating_raw, decimals=token.decimals),
        "burn_addresses": tuple(
            _holder(row, token) for row in holders_of(holders, "burn") if row.amount_raw > 0
        ),
    }


def _identity_fields(token: ReportRow, holders: tuple[HolderRow, ...]) -> dict[str, Any]:
    balance_raw = token.creator_balance_raw
    return {
        "name": token.name,
        "symbol": token.symbol,
        "creator_address": None
        if token.creator_address is None
        else checksum(token.creator_address),
        "creator_balance": None
        if balance_raw is None
        else whole_tokens(balance_raw, decimals=token.decimals),
        "creator_percent": None
        if balance_raw is None
        else truncated_pct(balance_raw, of_raw=token.supply_raw),
        "top_holders": tuple(_holder(row, token) for row in holders_of(holders, "top")),
        "last_scanned_at": iso_utc(token.scanned_at_s),
    }


def holders_of(holders: tuple[HolderRow, ...], role: str) -> list[HolderRow]:
    """Return the first ten holders of a role, in order."""
    chosen = sorted((row for row in holders if row.role == role), key=lambda row: row.ordinal)
    return chosen[:TOP_HOLDERS]


def _holder(row: HolderRow, token: ReportRow) -> Holder:
    return Holder(
        owner_address=checksum(row.owner),
        token_amount=whole_tokens(row.amount_raw, decimals=token.decimals),
        pct_held=share_pct(row.amount_raw, of_raw=token.supply_raw),
        error_message=None,
        error_code=None,
    )
