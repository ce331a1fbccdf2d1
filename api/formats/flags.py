"""Checks of the summary: a catalogue as data, and evaluation of one check to a flag.

No answer gives status `unknown`, never a pass.
"""

from collections.abc import Callable
from typing import Literal

import msgspec

from api.formats.compat import either
from api.formats.native import holders_of
from api.formats.shapes import NativeFeatures, Shape, figure, settled
from config.burn import BURN_ADDRESSES
from core.report import Pending, Report

Severity = Literal["danger", "warning", "info", "notice"]
Status = Literal["danger", "warning", "info", "notice", "safe", "unknown"]

STATUS_ORDER: tuple[Status, ...] = ("danger", "warning", "info", "notice", "safe", "unknown")
ACTIVE: tuple[Status, ...] = ("danger", "warning", "info")

HIGH_TAX_PCT = 50.0
ELEVATED_TAX_PCT = 10.0
CREATOR_HOLDS_PCT = 5.0
CONCENTRATED_PCT = 20


class Flag(Shape, frozen=True, kw_only=True):
    """One check, resolved for one token."""

    key: str
    label: str
    """A sentence fragment to show as it is."""
    status: Status
    """Colour by this, never by `value`."""
    active: bool
    """The check fired: danger, warning or info."""
    value: bool | None
    """None: the check has no answer."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the check catalogue."""

    key: str
    label: str
    severity: Severity
    """Status if the check finds something."""
    value: Callable[["Judged"], bool | None]
    """Evaluates the check; None makes the flag unknown."""
    finding: bool = True
    """The value that is a finding."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """Input of the checks."""

    report: Report
    native: NativeFeatures
    has_enough_liquidity: bool | None


def resolve(check: Check, judged: Judged) -> Flag:
    """Evaluate one check to a flag. No answer is `unknown`, never a pass."""
    value = check.value(judged)
    status: Status = "unknown"
    if value is not None:
        status = check.severity if value is check.finding else "safe"
    return Flag(
        key=check.key,
        label=check.label,
        status=status,
        active=status in ACTIVE,
        value=value,
    )


# --- rules -----------------------------------------------------------------------------------


def _field(name: str) -> Callable[[Judged], bool | None]:
    """Return a rule that reads a native field; `pending` and an absent key are no answer."""

    return lambda judged: settled(getattr(judged.native, name))


def _not(rule: Callable[[Judged], bool | None]) -> Callable[[Judged], bool | None]:
    def negated(judged: Judged) -> bool | None:
        value = rule(judged)
        return None if value is None else not value

    return negated


def transfer_restrictions(native: NativeFeatures) -> bool | None:
    """True if the code could cap a trade or a position; None if neither is known to be true."""
    return either(native.has_trading_cap_functionality, native.has_position_cap_functionality)


def _tax_from(low_pct: float) -> Callable[[Judged], bool | None]:
    """Return a rule: True if a tax is at least `low_pct`.

    False needs a figure for buys and one for sales, from pools where pools exist: the tax of a
    plain transfer does not replace them. Without a pool, those of a transfer are used.
    """

    def read(judged: Judged) -> bool | None:
        pools, native = judged.native.dex, judged.native
        sent, received = _figures(native.send_tax), _figures(native.receive_tax)
        bought = _figures(*(pool.buy_tax for pool in pools))
        sold = _figures(*(pool.sell_tax for pool in pools))
        if any(tax >= low_pct for tax in (*bought, *sold, *sent, *received)):
            return True
        is_answered = bought and sold if pools else sent and received
        return False if is_answered else None

    return read


def _report_field(name: str) -> Callable[[Judged], bool | None]:
    """Return a rule that reads a report field which the native format does not have."""

    def read(judged: Judged) -> bool | None:
        value: bool | None = getattr(judged.report.token, name)
        return value

    return read


def _dominant_pool_unsellable(judged: Judged) -> bool | None:
    """True if a sale into the deepest pool failed, even if it passes in shallower ones."""
    if not judged.native.dex:
        return None
    can_sell = settled(judged.native.dex[0].sell_success)
    return None if can_sell is None else not can_sell


def _figures(*taxes: float | Pending | None) -> list[float]:
    return [tax for tax in map(figure, taxes) if tax is not None]


def _privileged_spenders(judged: Judged) -> bool | None:
    if judged.native.privileged_spenders:
        return True
    return None if judged.native.allowance_bypass is None else False


def _creator_holds_supply(judged: Judged) -> bool | None:
    percent = judged.native.creator_percent
    return None if percent is None else percent > CREATOR_HOLDS_PCT


def _holder_concentration(judged: Judged) -> bool | None:
    """True if one holder that is neither a burn address nor a pool has over a fifth of the supply.

    None if an unlisted holder may have as much: while over a fifth of the supply is covered neither
    by the listed holders nor by the sum of the others in a complete transfer history, each of whom
    has less than those listed.
    """
    report = judged.report
    top = holders_of(report.holders, "top")
    if not top:
        return None
    fifth_of_100 = report.token.supply_raw * CONCENTRATED_PCT
    large = {row.owner for row in top if row.amount_raw * 100 > fifth_of_100} - BURN_ADDRESSES
    if report.pools is not None and large - {pool.pool for pool in report.pools}:
        return True
    listed = {row.owner: row.amount_raw for row in report.holders}
    known_raw = sum(listed.values()) + (report.token.others_raw or 0)
    is_unsure = (report.token.supply_raw - known_raw) * 100 > fifth_of_100
    may_be_a_pool = report.pools is None and large
    return None if is_unsure or may_be_a_pool else False


# --- the catalogue ---------------------------------------------------------------------------


def _check(
    severity: Severity,
    key: str,
    label: str,
    value: Callable[[Judged], bool | None] | None = None,
    *,
    finding: bool = True,
) -> Check:
    return Check(
        key=key, label=label, severity=severity, value=value or _field(key), finding=finding
    )


def _fields(severity: Severity, **labels: str) -> tuple[Check, ...]:
    """Return checks of one native field each, True being the finding."""
    return tuple(_check(severity, key, label) for key, label in labels.items())


def _report_fields(severity: Severity, **labels: str) -> tuple[Check, ...]:
    """Return checks of one report field each that the native format does not have."""
    return tuple(_check(severity, key, label, _report_field(key)) for key, label in labels.items())


ACCESS_RESTRICTIONS = _check(
    "warning",
    "access_restrictions",
    "Addresses can be blocked from trading",
    _field("has_blacklist_or_whitelist"),
)
TRANSFER_RESTRICTIONS = _check(
    "warning",
    "transfer_restrictions",
    "Transfers or holdings can be limited in size",
    lambda judged: transfer_restrictions(judged.native),
)
ENOUGH_LIQUIDITY = _check(
    "warning",
    "has_enough_liquidity",
    "Has a pool with enough liquidity to trade",
    lambda judged: judged.has_enough_liquidity,
    finding=False,
)

HIGH_TAX = _check("danger", "high_tax", "Tax of 50% or more", _tax_from(HIGH_TAX_PCT))

TRADE_CHECKS: tuple[Check, ...] = (
    *_report_fields(
        "danger",
        sell_blocked_later="Sales that work today are refused later",
        sell_tax_rises="Tax on sales rises to 50% or more",
        sell_blocked_after_others="Sales are refused after other people have traded",
        sell_depends_on_size="Some buyers cannot sell what others can",
        sell_depends_on_conditions=(
            "Sales fail or lose half, depending on fees, gas, balances or luck"
        ),
    ),
    _check(
        "danger",
        "dominant_pool_unsellable",
        "Cannot be sold in its deepest pool",
        _dominant_pool_unsellable,
    ),
)
"""Each is also a reason of the verdict."""

(UNTESTED_CONDITIONS,) = _report_fields(
    "warning",
    untested_conditions="Code can refuse or tax trades on conditions that were not tested",
)

CATALOGUE: tuple[Check, ...] = (
    *_fields(
        "danger",
        allowance_bypass="Tokens can be moved without approval",
        funds_can_be_drained="Others can take tokens out of a wallet",
        owner_can_change_balance="Owner can change balances",
    ),
    _check("danger", "transfer_failed", "Transfers fail", _not(_field("transfer_success"))),
    *_fields("danger", view_function_modifies_state="A read-only function changes state"),
    HIGH_TAX,
    *TRADE_CHECKS,
    ACCESS_RESTRICTIONS,
    TRANSFER_RESTRICTIONS,
    *_fields(
        "warning",
        pause_status_can_be_modified="Trading can be paused",
        trading_cooldown="Waiting time between transfers",
        mint_or_burn_function="Supply can change",
        tax_can_be_modified="Tax can be changed",
    ),
    _check(
        "warning",
        "elevated_tax",
        "Tax of 10% or more",
        _tax_from(ELEVATED_TAX_PCT),
    ),
    *_fields(
        "warning",
        timebomb="Behaviour depends on the time",
        is_proxy="Code can be replaced behind a proxy",
        trading_cap_can_be_modified="Maximum transfer size can be changed",
        position_cap_can_be_modified="Maximum holding can be changed",
    ),
    _check(
        "warning",
        "ownership_not_renounced",
        "Ownership is not renounced",
        _not(_field("ownership_renounced")),
    ),
    _check(
        "warning",
        "holder_concentration",
        "One holder has over 20% of the supply",
        _holder_concentration,
    ),
    _check(
        "warning",
        "creator_holds_supply",
        "Creator holds over 5% of the supply",
        _creator_holds_supply,
    ),
    ENOUGH_LIQUIDITY,
    UNTESTED_CONDITIONS,
    *_report_fields(
        "warning",
        hidden_owner_controls=(
            "Somebody with powers can refuse or tax trades in a way that no other check names"
        ),
        unproved_custody="Code can move or approve tokens and is not proved to ask their holder",
        creates_balances="Balances can be created unseen",
    ),
    *_fields(
        "info",
        transfer_guarded_by_storage="Transfers depend on stored settings",
        transfer_from_guarded_by_storage=(
            "Transfers by approved spenders depend on stored settings"
        ),
        has_pause_functionality="Contains code that can pause trading",
        has_tax_functionality="Contains code that can take a tax",
        has_owner_functionality="Some addresses have special access",
        external_call="Relies on other contracts",
        can_selfdestruct="Contains a selfdestruct",
    ),
    _check("info", "privileged_spenders", "Named addresses need no approval", _privileged_spenders),
    _check("notice", "is_open_source", "Source code is published", finding=False),
)
"""Every check, in the order of the decisions page."""

_BY_SETTING = "owner_can_change_balance"


def catalogue(report: Report | None, *, has_owner_simulation: bool) -> tuple[Check, ...]:
    """Return the checks of this deployment; the one disabled by a setting is left out, unless the
    report has its answer."""
    is_answered = report is not None and report.token.owner_can_change_balance is not None
    if has_owner_simulation or is_answered:
        return CATALOGUE
    return tuple(check for check in CATALOGUE if check.key != _BY_SETTING)


HIGHLIGHTS = (ACCESS_RESTRICTIONS, TRANSFER_RESTRICTIONS, ENOUGH_LIQUIDITY)
