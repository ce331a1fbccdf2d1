"""Static findings of deployed code: resolves proxies, analyses, and joins front and targets.

A proxy's front can choose between targets; at most `_MOST_OTHERS` besides the resolved one count.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from analysis.reads.block_reader import BlockReader
from analysis.static.analyse_code import CodeAnalysis
from analysis.static.custody.custody_report import StoredAddress
from analysis.static.custody.open_functions import OpenFunctions
from analysis.static.custody.simulation_hints import UNKNOWN_LEADS, SimulationHints
from analysis.static.dataflow.delegate_targets import Delegation
from analysis.static.powers.static_powers import StaticPowers
from analysis.static.token_model.caps.cap_rules import CapRules
from analysis.static.token_model.clock.clock_limits import ClockLimit
from analysis.static.token_model.conditions.trade_conditions import TradeConditions
from analysis.token import proxy_resolution
from core.evm.code_shape import CodeShape
from core.evm.primitives import ADDRESS_MASK, ZERO_ADDRESS, Address, Hash32, Selector, address_of
from core.report.fields.field import Pending
from core.report.fields.static_findings import StaticFindings
from core.report.report import EvidenceRow

T = TypeVar("T")


class DeployedCode(msgspec.Struct, frozen=True, kw_only=True):
    """Results of the static analysis of an address."""

    implementation: Address | None
    """Address of the analysed code. None: the token itself, or not found."""
    findings: StaticFindings
    """Findings of the implementation, for a proxy; `is_proxy` is of the token's address."""
    owner_slots: tuple[Hash32, ...]
    """Slots of the token that the code compares with the caller."""
    packed_owners: tuple[StoredAddress, ...] = ()
    """Addresses not in the low bits of their slots that it compares with the caller."""
    clock_limits: tuple[ClockLimit, ...] = ()
    """Values that the code compares with the clock; slots are the token's."""
    hints: SimulationHints = UNKNOWN_LEADS
    """Hints for simulations of the code."""
    conditions: TradeConditions = TradeConditions()
    """Conditions of the code, and of a proxy itself; slots are the token's."""
    cap_rules: CapRules = CapRules()
    """Cap rules of the code; slots are the token's."""
    powers: StaticPowers = StaticPowers()
    """Powers of the code, and setters of a proxy itself; slots are the token's."""
    target_slots: tuple[Hash32, ...] = ()
    """Slots of the token that hold a proxy's target."""
    has_beacon: bool = False
    """True for a proxy that takes its target from another contract."""
    counts_blocks: bool = True
    """False: no code that runs in its calls can read a block's number."""
    is_replaceable: bool | None
    """True for a proxy whose target is in storage or at a beacon, so that the code can be replaced.

    None: the proxy's code could not be followed.
    """
    evidence: tuple[EvidenceRow, ...]
    shape: CodeShape | None = None
    """Shape of the code, behind a proxy. None: not known."""


AnalyseBytes = Callable[[bytes], Awaitable[CodeAnalysis]]
"""Static analysis of one code, from a cache or computed outside the event loop."""


async def analyse_deployed_code(
    reader: BlockReader,
    token: Address,
    code: bytes,
    standard: proxy_resolution.StandardSlots,
    *,
    analyse: AnalyseBytes,
) -> DeployedCode:
    """Follow a proxy to its code and analyse it. Raises UpstreamError."""
    trail = proxy_resolution.begin(token, code=code, standard=standard)
    while trail.wants is not None:
        if isinstance(trail.wants, proxy_resolution.AnalyseCode):
            trail = proxy_resolution.learn(trail, await analyse(trail.wants.code))
        else:
            trail = await proxy_resolution.take_step(trail, reader)
    own, behind = trail.own, trail.found
    if trail.code is None or behind is None:
        return _unresolved(own, trail)
    if behind is own or own is None:
        return _resolved(trail, behind, behind.findings, behind.hints, behind.evidence)
    others = await _other_targets(reader, trail, own.delegation, analyse=analyse)
    findings, hints = behind.findings, behind.hints
    for other in others:
        findings = either(findings, other.findings)
        hints = joined(hints, other.hints)
    return msgspec.structs.replace(
        _resolved(
            trail,
            behind,
            with_front(findings, own.findings),
            behind_front(hints, own.hints),
            (*behind.evidence, *_of_proxy(own, behind)),
        ),
        clock_limits=tuple(
            dict.fromkeys(limit for found in (behind, own, *others) for limit in found.clock_limits)
        ),
        conditions=_with_front(own, (behind, *others)),
        powers=_joined_powers(own, (behind, *others)),
        counts_blocks=any(each.counts_blocks for each in (behind, own, *others)),
        target_slots=own.delegation.slots,
        has_beacon=bool(own.delegation.beacons or own.delegation.beacon_slots),
    )


def _resolved(
    trail: proxy_resolution.ProxySearch,
    behind: CodeAnalysis,
    findings: StaticFindings,
    hints: SimulationHints,
    evidence: tuple[EvidenceRow, ...],
) -> DeployedCode:
    return DeployedCode(
        implementation=trail.implementation,
        findings=msgspec.structs.replace(findings, is_proxy=trail.is_proxy),
        owner_slots=behind.owner_slots,
        packed_owners=behind.packed_owners,
        clock_limits=behind.clock_limits,
        hints=hints,
        conditions=behind.conditions,
        cap_rules=behind.cap_rules,
        powers=behind.powers,
        counts_blocks=behind.counts_blocks or behind.delegation.is_proxy is not False,
        is_replaceable=_is_replaceable(trail),
        evidence=evidence,
        shape=behind.shape,
    )


async def _other_targets(
    reader: BlockReader,
    trail: proxy_resolution.ProxySearch,
    delegation: Delegation,
    *,
    analyse: AnalyseBytes,
) -> list[CodeAnalysis]:
    """Return the analyses of other targets, for other times or callers."""
    if not delegation.has_several:
        return []
    batch = reader.batch()
    unread = {
        slot: batch.slot(trail.token, slot) for slot in delegation.slots if slot not in trail.words
    }
    await reader.send(batch)
    words = trail.words | {slot: batch[word] for slot, word in unread.items()}
    stored = (address_of(words[slot] & ADDRESS_MASK) for slot in delegation.slots)
    named = dict.fromkeys((*delegation.targets, *(each for each in stored if each is not None)))
    others = [each for each in named if each not in (*trail.hops, ZERO_ADDRESS)][:_MOST_OTHERS]
    batch = reader.batch()
    codes = [batch.code(other) for other in others]
    await reader.send(batch)
    return [await analyse(code) for other in codes if (code := batch[other])]


def _with_front(front: CodeAnalysis, behind: Sequence[CodeAnalysis]) -> TradeConditions:
    """Join the conditions of the codes: a proxy may choose its target by its own conditions.

    Decisions of the proxy's administrator are covered by `is_proxy`, and are not owned here.
    """
    every = [front.conditions, *(each.conditions for each in behind)]
    return TradeConditions(
        conditions=_distinct(each.conditions for each in every),
        owned=_distinct(each.owned for each in every[1:]),
        by_own_acts=_distinct(each.by_own_acts for each in every),
        fee_setters=_distinct(each.fee_setters for each in every),
        is_complete=all(each.is_complete for each in every),
    )


def _joined_powers(front: CodeAnalysis, behind: Sequence[CodeAnalysis]) -> StaticPowers:
    """Join the powers of the codes: each runs on the storage of the token."""
    every = [front.powers, *(each.powers for each in behind)]
    return StaticPowers(
        powers=_distinct(each.powers for each in every[1:]),
        setters=_distinct(each.setters for each in every),
        wild=_distinct(each.wild for each in every),
        credits=(
            None
            if any(each.credits is None for each in every[1:])
            else _distinct(each.credits or () for each in every)
        ),
        is_complete=all(each.is_complete for each in every) and not front.powers.stores_plain,
    )


def _distinct(parts: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(each for part in parts for each in part))


def _is_replaceable(trail: proxy_resolution.ProxySearch) -> bool | None:
    if trail.is_proxy is not True or trail.own is None or trail.found is None:
        return trail.is_proxy
    delegation = trail.own.delegation
    if delegation.is_proxy is None or len(delegation.targets) != len(delegation.pcs):
        return True
    # An implementation that delegates on may take its own target from storage.
    is_last = len(trail.hops) == 1 and trail.found.delegation.is_proxy is False
    return False if is_last else None


def _unresolved(own: CodeAnalysis | None, trail: proxy_resolution.ProxySearch) -> DeployedCode:
    """Return unknown findings, for a proxy whose implementation was not found."""
    return DeployedCode(
        implementation=None,
        findings=StaticFindings(timebomb=None, is_proxy=trail.is_proxy),
        owner_slots=(),
        is_replaceable=None,
        evidence=_of_proxy(own, None),
    )


def _of_proxy(own: CodeAnalysis | None, behind: CodeAnalysis | None) -> tuple[EvidenceRow, ...]:
    """Return the front's evidence: on the proxy, and where the code behind it has none."""
    rows = () if own is None else own.evidence
    known = {row.key for row in behind.evidence} if behind is not None else set()
    return tuple(
        row
        for row in rows
        if row.key == "is_proxy" or (row.key in _OF_FRONTS and row.key not in known)
    )


_OF_FRONTS = frozenset({"timebomb"})
_MOST_OTHERS = 3


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
    """Add the front's check before it delegates: the clock."""
    if front.timebomb is True:
        return msgspec.structs.replace(findings, timebomb=True)
    return findings


def behind_front(hints: SimulationHints, front: SimulationHints) -> SimulationHints:
    """Add the front's writes to the storage of the code behind it, and its parties."""
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
    return SimulationHints(
        addresses=tuple(dict.fromkeys((*one.addresses, *other.addresses))),
        stored=tuple(dict.fromkeys((*one.stored, *other.stored))),
        writers=(*one.writers, *other.writers),
        movers=tuple(dict.fromkeys((*one.movers, *other.movers))),
        open_writes=(*one.open_writes, *other.open_writes),
        grants=tuple(dict.fromkeys((*one.grants, *other.grants))),
        accounts_used=tuple(dict.fromkeys((*one.accounts_used, *other.accounts_used))),
        openings=tuple(dict.fromkeys((*one.openings, *other.openings))),
        open_functions=OpenFunctions(
            functions=tuple(
                dict.fromkeys((*one.open_functions.functions, *other.open_functions.functions))
            ),
            is_complete=one.open_functions.is_complete and other.open_functions.is_complete,
            reads_clock=one.open_functions.reads_clock or other.open_functions.reads_clock,
        ),
        is_proved=one.is_proved and other.is_proved,
        has_several_balances=one.has_several_balances or other.has_several_balances,
    )
