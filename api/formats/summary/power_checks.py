"""Severity of the checks on powers: by holder, by the bound that the code proves, and by reach.

A check that finds a power is a warning where one wallet, or a contract that binds nobody, holds it
without a bound. It is a danger where anybody can take the liquidity, returned words can lie, or a
wallet kept control over sales when ownership was renounced. It is info where the power is dead,
small, out of reach or over the own tokens, and where a multisig, a timelock or an issuer with a
track record holds it.
"""

from collections.abc import Iterable
from typing import Final, Literal

from api.formats.shape_building import Shape
from core.evm.primitives import checksum
from core.report.fields.field import Severity
from core.report.powers import Bound, HolderKind, Power, PowerKind
from core.report.report import Report

PowerReach = Literal["trades", "holdings", "none"]


class PowerShown(Shape, frozen=True, kw_only=True):
    """One power over the token, and the account that holds it."""

    what: PowerKind
    """Act of its holder. stop: refuse everybody's trades; block: refuse an address's; cap:
    limit amounts or holdings; condition: change another condition of trades; disguise: change what
    balances are shown or whether transfers return success; mint and burn: change the supply; take:
    move tokens of others; replace: exchange the code; withdraw: take liquidity out of pools."""
    holder: str | None
    """The account, with the checksum of EIP-55. None: no single one is named."""
    holder_kind: HolderKind
    """nobody: renounced, burnt or used up. holders: each over the own tokens. trades: only as
    simulated. list: accounts that storage lists. contract: one that binds nobody, as far as known.
    unknown: not read."""
    bound: Bound
    """low: the code keeps it small. unreachable: it touches neither trades nor holdings. tight: a
    rule in force hurts as it stands. none: no bound is proved."""
    reach: PowerReach
    """Target of the act. none: it touches neither trades nor holdings."""
    used: int | None
    """Times that it was used. None: not known."""
    is_harmful: bool
    """One account could hurt holders with it, alone and at once."""
    detail: str | None
    """Members and threshold of a multisig, delay of a timelock, or the bound, as text. None: there
    is none."""
    functions: tuple[str, ...]
    """Selectors of the functions that use it. Empty: no function does, or they are not known."""
    check: str
    """Key of the field of the native format, or of the check, that it explains."""


_OF_HOLDINGS: Final = frozenset({"mint", "burn", "take"})
_OVER_SALES: Final = frozenset({"stop", "block", "cap", "tax", "condition"})


def show_power(power: Power, report: Report) -> PowerShown:
    """Return a power in the form that the API sends."""
    reach: PowerReach = "holdings" if power.what in _OF_HOLDINGS else "trades"
    return PowerShown(
        what=power.what,
        holder=None if power.holder is None else checksum(power.holder),
        holder_kind=power.holder_kind,
        bound=power.bound,
        reach="none" if power.bound == "unreachable" else reach,
        used=None,
        is_harmful=is_hurtful(power, has_record=is_established(report)),
        detail=power.detail,
        functions=power.functions,
        check=power.check,
    )


POWER_FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "access_restrictions": ("has_blacklist_or_whitelist",),
    "transfer_restrictions": ("trading_cap_can_be_modified", "position_cap_can_be_modified"),
    "pause_status_can_be_modified": ("pause_status_can_be_modified",),
    "trading_cooldown": ("trading_cooldown",),
    "mint_or_burn_function": ("mint_or_burn_function",),
    "tax_can_be_modified": ("tax_can_be_modified",),
    "timebomb": ("timebomb",),
    "is_proxy": ("is_proxy",),
    "trading_cap_can_be_modified": ("trading_cap_can_be_modified",),
    "position_cap_can_be_modified": ("position_cap_can_be_modified",),
    "hidden_owner_controls": ("hidden_owner_controls",),
}
"""Check -> fields whose powers decide its severity."""

OF_CODE: Final = frozenset({"unproved_code", "untested_conditions"})
"""Checks on proofs about the code. A track record stands in for those, and for nothing seen."""

_OWNERSHIP: Final = "ownership_not_renounced"

_WITH_RECORD: Final[frozenset[HolderKind]] = frozenset({"contract", "list"})
"""Holders that count as an issuer's where the token has a track record; one wallet never does."""

_NOTES: Final[dict[HolderKind, str]] = {
    "nobody": "nobody can any more",
    "holders": "only holders, over their own tokens",
    "trades": "only by trades, as tested",
    "multisig": "held by a multisig",
    "timelock": "held by a timelock",
    "contract": "held by a contract of an established issuer",
    "list": "held by accounts of an established issuer",
}


def is_hurtful(power: Power, *, has_record: bool) -> bool:
    """True if one account could hurt holders with the power, alone and at once."""
    if power.is_harmless or power.is_bound:
        return False
    return not (has_record and power.holder_kind in _WITH_RECORD)


def hurtful_powers(report: Report) -> tuple[Power, ...]:
    """Return the powers that are worth a warning."""
    has_record = is_established(report)
    return tuple(power for power in report.powers if is_hurtful(power, has_record=has_record))


def severity_by_power(key: str, severity: Severity, report: Report) -> tuple[Severity, str]:
    """Return the severity of a check that found something, and a note on the power for its label.

    The declared severity stands for a check that is not about a power, or whose powers are not
    known.
    """
    if key in OF_CODE and is_established(report):
        return "info", "but many holders have sold it over a long time"
    if key == _OWNERSHIP:
        is_idle = report.are_powers_known is True and not hurtful_powers(report)
        return ("info", "without a power over trades or holdings") if is_idle else (severity, "")
    danger = _danger_of(key, report)
    if danger is not None:
        return "danger", danger
    fields = POWER_FIELDS.get(key, ())
    powers = [power for power in report.powers if power.check in fields]
    if not powers:
        return severity, ""
    has_record = is_established(report)
    if any(is_hurtful(power, has_record=has_record) for power in powers):
        return severity, ""
    return "info", _note(powers)


def _danger_of(key: str, report: Report) -> str | None:
    """Return why the powers of a check are a danger. None: they are not."""
    powers = hurtful_powers(report)
    is_kept = report.token.ownership_renounced and any(
        power.holder_kind == "wallet" and power.what in _OVER_SALES for power in powers
    )
    if key == "hidden_owner_controls" and is_kept:
        return "one account kept them when ownership was renounced"
    for power in powers:
        if power.check != key:
            continue
        if power.what == "disguise":
            return "it is hidden in what transfers or balanceOf return"
        if power.what == "withdraw" and power.holder_kind == "anybody":
            return "anyone can take it"
    return None


def _note(powers: Iterable[Power]) -> str:
    """Return who holds the powers, the most powerful holder first."""
    kinds = dict.fromkeys(power.holder_kind for power in powers)
    notes = [note for kind, note in reversed(_NOTES.items()) if kind in kinds]
    details = [power.detail for power in powers if power.detail and power.bound != "none"]
    return "; ".join((*dict.fromkeys(details), *notes[:1]))


def is_established(report: Report) -> bool:
    """True if the token has a track record that stands in for a proof."""
    return report.track_record is not None and report.track_record.is_established
