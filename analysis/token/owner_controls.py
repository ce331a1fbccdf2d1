"""Finds trade conditions that a privileged account sets and that no field of the report covers.
Pure.

Inputs: the conditions of the token's code and of its V4 hooks, and the token's static findings. A
finding is as sound as `guarded_stores` is in recognising checks of the caller.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from analysis.static.token_model.conditions.trade_conditions import (
    ConditionEffect,
    OwnedCondition,
    TradeConditions,
    VariableKey,
)
from analysis.token.live_setters import LiveSetters
from core.evm.primitives import Selector
from core.report.fields.static_findings import StaticFindings
from core.report.report import EvidenceRow

_KEY: Final = "hidden_owner_controls"
_APPROVE: Final = "0x095ea7b3"
_MOST_SHOWN: Final = 40
_PAUSE: Final = "has_pause_functionality"
_PAUSE_POWER: Final = "pause_status_can_be_modified"

_OF_LISTS: Final = ("has_blacklist_or_whitelist",)
_OF_REFUSALS: Final = (
    *_OF_LISTS,
    *("has_trading_cap_functionality", "has_position_cap_functionality"),
    *("trading_cooldown", _PAUSE),
)
_OF_AMOUNTS: Final = (*_OF_REFUSALS, "tax_can_be_modified")
"""Fields of the report; one that is true covers a list or variable that decides an effect."""

_COVERING: Final[dict[ConditionEffect, tuple[str, ...]]] = {
    "refuses": _OF_REFUSALS,
    "overruns": _OF_AMOUNTS,
    "leads": _OF_AMOUNTS,
    "writes": _OF_AMOUNTS,
}


class _Control(msgspec.Struct, frozen=True, kw_only=True):
    selector: Selector
    pc: int
    effect: ConditionEffect
    is_of_hook: bool


class _Controls(msgspec.Struct, frozen=True, kw_only=True):
    reason: str
    conditions: tuple[_Control, ...]


def rules_of(token: TradeConditions) -> dict[VariableKey, set[str]]:
    """Return by which rules each owner-set variable decides on trades; compilers' checks aside."""
    found: dict[VariableKey, set[str]] = {}
    for each in token.owned:
        if each.effect != "overruns":
            found.setdefault(each.variable, set()).add(each.rule)
    return found


class OwnerControls(msgspec.Struct, frozen=True, kw_only=True):
    """The finding and its evidence."""

    is_hidden: bool | None = None
    """None: not every condition is known."""
    evidence: tuple[EvidenceRow, ...] = ()
    hidden: frozenset[VariableKey] = frozenset()
    """Live variables of conditions over which no power of another field is known."""
    named: frozenset[VariableKey] = frozenset()
    """Addresses that live setters can set to a party of trades."""
    returned: frozenset[VariableKey] = frozenset()
    """Live variables that change what a transfer or `balanceOf` returns."""
    has_hidden_hook: bool = False
    """True if a setter of a hook's variable decides on trades."""


def find_controls(
    token: TradeConditions,
    hooks: Iterable[TradeConditions],
    static: StaticFindings,
    *,
    is_renounced: bool | None,
    live: LiveSetters,
) -> OwnerControls:
    """Return the owner-set conditions that no field covers.

    `hooks`: conditions of the traded pools' hooks; no field of a token covers them.
    `is_renounced`: the report then denies that a pause can be set. `live`: setters of the token's
    variables that can still run.
    """
    hook_conditions = tuple(hooks)
    alive = [each for each in token.owned if not live.is_dead(each.variable)]
    hidden = [
        each
        for each in alive
        if each.is_returned or not _is_covered(each, static, live, is_renounced=is_renounced)
    ]
    unnamed = frozenset(
        each.variable for each in alive if not live.fields_of(each.variable) - {_KEY}
    )
    named = frozenset(each for each in token.named if not live.is_dead(each))
    returned = frozenset(each.variable for each in alive if each.is_returned)
    of_hooks = [_control(each, is_of_hook=True) for hook in hook_conditions for each in hook.owned]
    found = [*map(_control, hidden), *of_hooks]
    is_complete = token.is_complete and all(hook.is_complete for hook in hook_conditions)
    if not found:
        is_hidden = False if is_complete else None
        return OwnerControls(is_hidden=is_hidden, hidden=unnamed, named=named, returned=returned)
    return OwnerControls(
        is_hidden=True,
        evidence=tuple(_evidence(found)),
        hidden=unnamed,
        named=named,
        returned=returned,
        has_hidden_hook=bool(of_hooks),
    )


def _is_covered(
    condition: OwnedCondition,
    static: StaticFindings,
    live: LiveSetters,
    *,
    is_renounced: bool | None,
) -> bool:
    """True if a field that is true names the variable, or what it decides.

    An approval is covered by a pause only if it is the pause of transfers.
    """
    is_approval = condition.selector == _APPROVE
    named = live.fields_of(condition.variable)
    fields = _OF_LISTS if is_approval else _COVERING.get(condition.effect, ())
    if is_approval and _PAUSE_POWER in named:
        fields = (*fields, _PAUSE)
    return any(
        getattr(static, field) is True for field in fields if not (is_renounced and field == _PAUSE)
    )


def _control(condition: OwnedCondition, *, is_of_hook: bool = False) -> _Control:
    return _Control(
        selector=condition.selector,
        pc=condition.pc,
        effect=condition.effect,
        is_of_hook=is_of_hook,
    )


def _evidence(found: list[_Control]) -> Iterator[EvidenceRow]:
    body = _Controls(
        reason="somebody with powers decides it, and no field of the token tells",
        conditions=tuple(found[:_MOST_SHOWN]),
    )
    yield EvidenceRow(key=_KEY, body=msgspec.json.encode(body).decode())
