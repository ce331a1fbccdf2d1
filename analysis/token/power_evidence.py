"""Evidence of powers: their functions, the storage that these set, and the callers they require."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from analysis.static.custody.custody_report import PrivilegedParty
from analysis.static.powers.static_powers import Setter, UnprovedCredit
from analysis.token.deployed_code import DeployedCode
from core.evm.primitives import Address, Hash32, Selector
from core.report.powers import Bound, HolderKind, Power, PowerKind
from core.report.report import EvidenceRow

_KEY: Final = "powers"
_MOST_SHOWN: Final = 64
"""Bound on powers, and on functions, slots and callers of one."""


class _Function(msgspec.Struct, frozen=True, kw_only=True):
    """One function that uses a power."""

    selector: Selector
    slots: tuple[Hash32, ...]
    """Declared slots of the variables that it sets. Empty: not known."""
    callers: tuple[PrivilegedParty, ...]
    """Accounts of which the caller must be one. Empty: it requires none, or none is known."""


class _PowerSeen(msgspec.Struct, frozen=True, kw_only=True):
    check: str
    what: PowerKind
    holder_kind: HolderKind
    holder: Address | None
    bound: Bound
    detail: str | None
    functions: tuple[_Function, ...]


class _PowersSeen(msgspec.Struct, frozen=True, kw_only=True):
    is_complete: bool
    """False: functions were not followed to their end, so that powers may be missing."""
    powers: tuple[_PowerSeen, ...]


def power_evidence(powers: Iterable[Power], code: DeployedCode) -> EvidenceRow:
    """Return the row `powers`. `code`: that which the powers were found in."""
    body = _PowersSeen(
        is_complete=code.powers.is_complete,
        powers=tuple(_seen(power, code) for power in tuple(powers)[:_MOST_SHOWN]),
    )
    return EvidenceRow(key=_KEY, body=msgspec.json.encode(body).decode())


def _seen(power: Power, code: DeployedCode) -> _PowerSeen:
    setters = tuple(_setters(power, code))
    return _PowerSeen(
        check=power.check,
        what=power.what,
        holder_kind=power.holder_kind,
        holder=power.holder,
        bound=power.bound,
        detail=power.detail,
        functions=tuple(
            _function(selector, [each for each in setters if each.selector == selector])
            for selector in power.functions[:_MOST_SHOWN]
        ),
    )


def _function(selector: Selector, setters: list[Setter]) -> _Function:
    slots = dict.fromkeys(each.slot for each in setters if each.slot is not None)
    callers = dict.fromkeys(caller for each in setters for caller in each.callers)
    return _Function(
        selector=selector,
        slots=tuple(slots)[:_MOST_SHOWN],
        callers=tuple(callers)[:_MOST_SHOWN],
    )


def _setters(power: Power, code: DeployedCode) -> Iterator[Setter]:
    """Yield the setters in the code that may use the power."""
    if power.what == "replace":
        yield from code.powers.wild
        yield from (each for each in code.powers.setters if each.slot in code.target_slots)
    for found in code.powers.powers:
        # The act of a power over conditions is known only with current storage.
        if found.field == power.check and found.what in (power.what, "condition"):
            yield from found.setters


_UNPROVED: Final = "not proved to keep the sum of the balances"


class _OpenCredit(msgspec.Struct, frozen=True, kw_only=True):
    selector: int
    pc: int
    reason: str


class _OpenCredits(msgspec.Struct, frozen=True, kw_only=True):
    reason: str
    writes: tuple[_OpenCredit, ...]


def credit_evidence(credits: tuple[UnprovedCredit, ...] | None) -> Iterator[EvidenceRow]:
    """Yield one row with the functions, places and reasons, or none."""
    if credits:
        writes = tuple(
            _OpenCredit(selector=int(each.setter.selector, 16), pc=each.pc, reason=each.reason)
            for each in credits[:_MOST_SHOWN]
        )
        body = _OpenCredits(reason=_UNPROVED, writes=writes)
        yield EvidenceRow(key="creates_balances:open", body=msgspec.json.encode(body).decode())
