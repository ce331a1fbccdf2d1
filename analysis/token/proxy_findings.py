"""Joins the findings of several codes behind one token: a proxy's front and its targets. Pure."""

import msgspec

from analysis.static.custody.simulation_hints import SimulationHints
from core.evm.primitives import Selector
from core.report.fields.field import Pending
from core.report.fields.static_findings import StaticFindings

_Value = bool | None | Pending | tuple[Selector, ...]


def either(one: StaticFindings, other: StaticFindings) -> StaticFindings:
    """Join findings of two codes of which one runs: true if one is true, None if else they
    differ."""
    values = {
        name: _or(getattr(one, name), getattr(other, name))
        for name in StaticFindings.__struct_fields__
    }
    return msgspec.convert(values, StaticFindings)


def _or(one: _Value, other: _Value) -> _Value:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return tuple(sorted({*one, *other}))
    if one is True or other is True:
        return True
    return one if one == other else None


def with_front(findings: StaticFindings, front: StaticFindings) -> StaticFindings:
    """Add what the front checks before it delegates: the clock."""
    if front.timebomb is True:
        return msgspec.structs.replace(findings, timebomb=True)
    return findings


def behind_front(hints: SimulationHints, front: SimulationHints) -> SimulationHints:
    """Add what the front itself may do to the storage of the code behind it, and its parties."""
    if not front.front_writes:
        return hints
    return msgspec.structs.replace(
        hints,
        addresses=tuple(dict.fromkeys((*hints.addresses, *front.addresses))),
        stored=tuple(dict.fromkeys((*hints.stored, *front.stored))),
        writers=(*hints.writers, *front.writers),
        open_writes=(*hints.open_writes, *front.front_writes),
    )


def joined(one: SimulationHints, other: SimulationHints) -> SimulationHints:
    """Join hints: everything that either suggests to try; proved only if both are."""
    creates = (
        True
        if one.creates_balances or other.creates_balances
        else one.creates_balances
        if one.creates_balances == other.creates_balances
        else None
    )
    return SimulationHints(
        addresses=tuple(dict.fromkeys((*one.addresses, *other.addresses))),
        stored=tuple(dict.fromkeys((*one.stored, *other.stored))),
        writers=(*one.writers, *other.writers),
        movers=tuple(dict.fromkeys((*one.movers, *other.movers))),
        open_writes=(*one.open_writes, *other.open_writes),
        grants=tuple(dict.fromkeys((*one.grants, *other.grants))),
        openings=tuple(dict.fromkeys((*one.openings, *other.openings))),
        creates_balances=creates,
        is_proved=one.is_proved and other.is_proved,
    )
