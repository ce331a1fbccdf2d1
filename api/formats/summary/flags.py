"""Checks of the summary: the catalogue, from fields and combinations, and evaluation to flags.

No answer gives status `unknown`, never a pass.
"""

from collections.abc import Callable, Collection
from typing import Final, Literal, get_args

import msgspec

from api.formats.native.compat import either
from api.formats.native.field_table import FIELDS, value_of
from api.formats.native.native import holders_of
from api.formats.native.shapes import NativeFeatures, figure, settled
from api.formats.prose.check_words import CHECK_WORDS, capital
from api.formats.shape_building import Shape
from api.formats.summary.power_checks import severity_by_power
from config.burn import BURN_ADDRESSES
from core.evm.primitives import Address
from core.report.fields.field import Check, Pending, Severity
from core.report.fields.static_findings import StaticFindings
from core.report.report import HolderRow, Report

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
    """Stable name of the check."""
    label: str
    """The answer as a sentence fragment, to show as it is."""
    status: Status
    """Colour by this, never by `value`."""
    active: bool
    """The check fired: danger, warning or info."""
    value: bool | None
    """None: the check has no answer."""


class SummaryCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the check catalogue."""

    key: str
    severity: Severity
    """Status if the check finds something."""
    value: Callable[["CheckInput"], bool | None]
    """Evaluates the check; None makes the flag unknown."""
    finding: bool = True
    """The value that is a finding."""
    is_reason: bool = False
    """True if it is also a reason of the verdict, unless its status is info."""
    severity_of: Callable[["CheckInput"], Severity] | None = None
    """Status of this finding. None: `severity`, whatever was found."""
    found_as: Callable[["CheckInput"], str | None] | None = None
    """Words of this finding. None, or returns None: the check's own."""

    @property
    def label(self) -> str:
        """Return the finding as a separate line."""
        return CHECK_WORDS[self.key].label

    def text_of(self, status: Status, inputs: "CheckInput") -> str:
        """Return the answer as a separate line."""
        words = CHECK_WORDS[self.key]
        if status == "safe":
            return capital(words.fine)
        if status == "unknown":
            return f"Unknown: {words.unknown}"
        return (self.found_as(inputs) if self.found_as else None) or words.label


class CheckInput(msgspec.Struct, frozen=True, kw_only=True):
    """Input of the checks."""

    report: Report
    native: NativeFeatures
    has_enough_liquidity: bool | None
    custodians: frozenset[Address] = frozenset()
    """Contracts that hold tokens for many accounts: known lockers, and vaults of exchanges."""


def resolve(check: SummaryCheck, inputs: CheckInput) -> Flag:
    """Evaluate one check to a flag. No answer is `unknown`, never a pass."""
    value = check.value(inputs)
    status: Status = "unknown"
    note = ""
    if value is check.finding:
        severity = check.severity_of(inputs) if check.severity_of else check.severity
        status, note = severity_by_power(check.key, severity, inputs.report)
    elif value is not None:
        status = "safe"
    label = check.text_of(status, inputs)
    return Flag(
        key=check.key,
        label=f"{label} ({note})" if note else label,
        status=status,
        active=status in ACTIVE,
        value=value,
    )


# --- rules -----------------------------------------------------------------------------------


def _of_field(key: str, check: Check) -> SummaryCheck:
    """Return the check that a field declares; `pending` and an absent key are no answer."""

    def read(inputs: CheckInput) -> bool | None:
        value = settled(value_of(key, inputs.report, inputs.native))
        return not value if check.is_negated and value is not None else value

    return SummaryCheck(
        key=check.key or key,
        severity=check.severity,
        value=read,
        finding=check.finding,
        is_reason=check.is_reason,
    )


def transfer_restrictions(static: StaticFindings) -> bool | None:
    """True if the code could cap a trade or a position; None if neither is known to be true."""
    return either(static.has_trading_cap_functionality, static.has_position_cap_functionality)


def _tax_from(low_pct: float) -> Callable[[CheckInput], bool | None]:
    """Return a rule: True if a tax is at least `low_pct`.

    False needs a figure for buys and one for sales, from pools where pools exist: the tax of a
    plain transfer does not replace them. Without a pool, those of a transfer are used.
    """

    def read(inputs: CheckInput) -> bool | None:
        pools, native = inputs.native.dex, inputs.native
        sent, received = _figures(native.send_tax), _figures(native.receive_tax)
        bought = _figures(*(pool.buy_tax for pool in pools))
        sold = _figures(*(pool.sell_tax for pool in pools))
        if any(tax >= low_pct for tax in (*bought, *sold, *sent, *received)):
            return True
        is_answered = bought and sold if pools else sent and received
        return False if is_answered else None

    return read


def _dominant_pool_unsellable(inputs: CheckInput) -> bool | None:
    """True if a sale into the deepest pool failed, even if it passes in shallower ones."""
    if not inputs.native.dex:
        return None
    can_sell = settled(inputs.native.dex[0].sell_success)
    return None if can_sell is None else not can_sell


def _figures(*taxes: float | Pending | None) -> list[float]:
    return [tax for tax in map(figure, taxes) if tax is not None]


def _privileged_spenders(inputs: CheckInput) -> bool | None:
    if inputs.native.privileged_spenders:
        return True
    return None if inputs.native.allowance_bypass is None else False


def _creator_holds_supply(inputs: CheckInput) -> bool | None:
    percent = inputs.native.creator_percent
    return None if percent is None else percent > CREATOR_HOLDS_PCT


def large_holders(report: Report, custodians: Collection[Address]) -> tuple[HolderRow, ...]:
    """Return the listed holders of over a fifth of the supply, the largest first.

    Burn addresses, custodians of many and known pools are left out.
    """
    beside = {*BURN_ADDRESSES, *custodians, *(pool.pool for pool in report.pools or ())}
    fifth_of_100 = report.token.supply_raw * CONCENTRATED_PCT
    large = [
        row
        for row in holders_of(report.holders, "top")
        if row.amount_raw * 100 > fifth_of_100 and row.owner not in beside
    ]
    return tuple(sorted(large, key=lambda row: -row.amount_raw))


def _unproved_code(inputs: CheckInput) -> bool | None:
    """True if custody is not proved, an unknown mint exists, or the creation left unexplained
    words."""
    scan = inputs.report.scan
    return either(scan.unproved_custody, scan.creates_balances, scan.unexplained_creation is True)


def _holder_concentration(inputs: CheckInput) -> bool | None:
    """True if one holder has over a fifth of the supply.

    Burn addresses, pools and known lockers do not count. None if an unlisted holder may have as
    much: while over a fifth of the supply is covered neither by the listed holders nor by the sum
    of the others in a complete transfer history, in which each has less than the listed ones.
    """
    report = inputs.report
    if not holders_of(report.holders, "top"):
        return None
    large = large_holders(report, inputs.custodians)
    if report.pools is not None and large:
        return True
    listed = {row.owner: row.amount_raw for row in report.holders}
    known_raw = sum(listed.values()) + (report.token.others_raw or 0)
    fifth_of_100 = report.token.supply_raw * CONCENTRATED_PCT
    is_unsure = (report.token.supply_raw - known_raw) * 100 > fifth_of_100
    may_be_a_pool = report.pools is None and large
    return None if is_unsure or may_be_a_pool else False


# --- the catalogue ---------------------------------------------------------------------------


_LIQUIDITY_RISKS: Final[dict[str | None, bool]] = {
    "withdrawable": True,
    "unknown_old": True,
    "held": False,
}
_LIQUIDITY_FOUND: Final[dict[str | None, str]] = {
    "unknown": "It is unknown who can withdraw the liquidity, which is new or of unknown age",
    "unknown_old": "It is unknown who can withdraw the liquidity, which is over 30 days old",
}

DISGUISED_CODE = SummaryCheck(
    key="disguised_code",
    severity="danger",
    value=lambda inputs: inputs.report.scan.hidden_creation,
)

LIQUIDITY_CAN_LEAVE = SummaryCheck(
    key="liquidity_can_leave",
    severity="warning",
    value=lambda inputs: _LIQUIDITY_RISKS.get(inputs.report.scan.liquidity_risk),
    is_reason=True,
    severity_of=lambda inputs: (
        "info" if inputs.report.scan.liquidity_risk == "unknown_old" else "warning"
    ),
    found_as=lambda inputs: _LIQUIDITY_FOUND.get(inputs.report.scan.liquidity_risk),
)

HIGH_TAX = SummaryCheck(
    key="high_tax",
    severity="danger",
    value=_tax_from(HIGH_TAX_PCT),
)

COMBINED: tuple[SummaryCheck, ...] = (
    HIGH_TAX,
    SummaryCheck(
        key="dominant_pool_unsellable",
        severity="danger",
        value=_dominant_pool_unsellable,
        is_reason=True,
    ),
    SummaryCheck(
        key="transfer_restrictions",
        severity="warning",
        value=lambda inputs: transfer_restrictions(inputs.report.static),
    ),
    SummaryCheck(
        key="elevated_tax",
        severity="warning",
        value=_tax_from(ELEVATED_TAX_PCT),
    ),
    SummaryCheck(
        key="holder_concentration",
        severity="warning",
        value=_holder_concentration,
    ),
    SummaryCheck(
        key="creator_holds_supply",
        severity="warning",
        value=_creator_holds_supply,
    ),
    DISGUISED_CODE,
    SummaryCheck(
        key="unproved_code",
        severity="warning",
        value=_unproved_code,
        is_reason=True,
    ),
    SummaryCheck(
        key="has_enough_liquidity",
        severity="warning",
        value=lambda inputs: inputs.has_enough_liquidity,
        finding=False,
    ),
    LIQUIDITY_CAN_LEAVE,
    SummaryCheck(
        key="privileged_spenders",
        severity="info",
        value=_privileged_spenders,
    ),
)
"""Checks that are not one boolean field. Fields declare all others."""

_ORDER = (
    *("allowance_bypass", "funds_can_be_drained", "owner_can_change_balance", "transfer_failed"),
    *("view_function_modifies_state", "high_tax", "sell_blocked_later", "sell_tax_rises"),
    *("sell_blocked_after_others", "sell_depends_on_size", "sell_depends_on_conditions"),
    *("dominant_pool_unsellable", DISGUISED_CODE.key),
    *("access_restrictions", "transfer_restrictions"),
    *("pause_status_can_be_modified", "trading_cooldown", "mint_or_burn_function"),
    *("tax_can_be_modified", "elevated_tax", "timebomb", "is_proxy"),
    *("trading_cap_can_be_modified", "position_cap_can_be_modified", "ownership_not_renounced"),
    *("holder_concentration", "creator_holds_supply", "has_enough_liquidity"),
    *("untested_conditions", "hidden_owner_controls", "unproved_code"),
    LIQUIDITY_CAN_LEAVE.key,
    *("transfer_guarded_by_storage", "transfer_from_guarded_by_storage"),
    *("has_pause_functionality", "has_tax_functionality", "has_owner_functionality"),
    *("external_call", "can_selfdestruct", "privileged_spenders", "is_open_source"),
)
"""Keys in the order of the decisions page; a new one comes after those of its severity."""


def _catalogue() -> tuple[SummaryCheck, ...]:
    declared = (_of_field(key, f.check) for key, f in FIELDS.items() if f.check is not None)
    checks = {check.key: check for check in (*COMBINED, *declared)}
    listed = [checks.pop(key) for key in _ORDER]
    severities = get_args(Severity)
    return tuple(sorted((*listed, *checks.values()), key=lambda c: severities.index(c.severity)))


CATALOGUE: tuple[SummaryCheck, ...] = _catalogue()
"""Every check, by severity."""

_BY_SETTING = "owner_can_change_balance"


def catalogue(
    report: Report | None, *, has_owner_simulation: bool, has_liquidity_check: bool = True
) -> tuple[SummaryCheck, ...]:
    """Return the checks of this deployment, the same for every token. One whose setting is off is
    left out, unless the report has its answer from before."""
    absent = set()
    if not has_liquidity_check and (report is None or report.scan.liquidity_risk is None):
        absent.add(LIQUIDITY_CAN_LEAVE.key)
    if not has_owner_simulation and (
        report is None or report.token.owner_can_change_balance is None
    ):
        absent.add(_BY_SETTING)
    return tuple(check for check in CATALOGUE if check.key not in absent)


_HIGHLIGHTED = ("access_restrictions", "transfer_restrictions", "has_enough_liquidity")

HIGHLIGHTS = tuple(check for check in CATALOGUE if check.key in _HIGHLIGHTED)
