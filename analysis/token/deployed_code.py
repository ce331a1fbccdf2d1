"""Static findings of a token: resolves proxies, analyses the code, and joins front and targets.

A proxy's front can choose between targets; at most `_MOST_OTHERS` besides the resolved one count.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from analysis.reads.block_reader import BlockReader
from analysis.static.analyse_code import CodeAnalysis
from analysis.static.custody.address_writers import StoredAddress
from analysis.static.custody.simulation_hints import UNKNOWN_LEADS, SimulationHints
from analysis.static.dataflow.delegate_targets import Delegation
from analysis.static.token_model.cap_rules import CapRules
from analysis.static.token_model.clock_limits import ClockLimit
from analysis.static.token_model.trade_conditions import TradeConditions
from analysis.token import proxy_findings, proxy_resolution
from core.evm.code_shape import CodeShape
from core.evm.primitives import ADDRESS_MASK, ZERO_ADDRESS, Address, Hash32, address_of
from core.report.fields.static_findings import StaticFindings
from core.report.report import EvidenceRow

T = TypeVar("T")


class CodeVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Results of the static part of an analysis."""

    implementation: Address | None
    """Address of the analysed code. None: the token itself, or not found."""
    findings: StaticFindings
    """Of the implementation, for a proxy; `is_proxy` is of the token's own address."""
    owner_slots: tuple[Hash32, ...]
    """Slots of the token that the code compares with the caller."""
    packed_owners: tuple[StoredAddress, ...] = ()
    """Addresses not in the low bits of their slots that it compares with the caller."""
    clock_limits: tuple[ClockLimit, ...] = ()
    """Values that the code compares with the clock; slots are the token's."""
    hints: SimulationHints = UNKNOWN_LEADS
    """What simulations of the code are to try."""
    conditions: TradeConditions = TradeConditions()
    """Those of the code, and of a proxy's own; slots are the token's."""
    cap_rules: CapRules = CapRules()
    """How the code enforces caps; slots are the token's."""
    is_replaceable: bool | None
    """True for a proxy that takes its target from storage or asks a beacon for it, so that whoever
    may write it replaces the code. None: the proxy's code could not be followed."""
    evidence: tuple[EvidenceRow, ...]
    shape: CodeShape | None = None
    """Of the code, behind a proxy. None: not known."""


Examine = Callable[[bytes], Awaitable[CodeAnalysis]]
"""Static analysis of one code, from a cache or computed beside the event loop."""


async def judge_code(
    reader: BlockReader,
    token: Address,
    code: bytes,
    standard: proxy_resolution.StandardSlots,
    *,
    examine: Examine,
) -> CodeVerdict:
    """Follow a proxy to its code and analyse it. Raises UpstreamError."""
    trail = proxy_resolution.begin(token, code=code, standard=standard)
    while trail.wants is not None:
        if isinstance(trail.wants, proxy_resolution.AnalyseCode):
            trail = proxy_resolution.learn(trail, await examine(trail.wants.code))
        else:
            trail = await proxy_resolution.take_step(trail, reader)
    own, judged = trail.own, trail.found
    if trail.code is None or judged is None:
        return _unjudged(own, trail)
    if judged is own or own is None:
        return _judged(trail, judged, judged.findings, judged.hints, judged.evidence)
    others = await _other_targets(reader, trail, own.delegation, examine=examine)
    findings, hints = judged.findings, judged.hints
    for other in others:
        findings = proxy_findings.either(findings, other.findings)
        hints = proxy_findings.joined(hints, other.hints)
    return msgspec.structs.replace(
        _judged(
            trail,
            judged,
            proxy_findings.with_front(findings, own.findings),
            proxy_findings.behind_front(hints, own.hints),
            (*judged.evidence, *_of_proxy(own, judged)),
        ),
        clock_limits=tuple(
            dict.fromkeys(limit for found in (judged, own, *others) for limit in found.clock_limits)
        ),
        conditions=_with_front(own, (judged, *others)),
    )


def _judged(
    trail: proxy_resolution.ProxySearch,
    judged: CodeAnalysis,
    findings: StaticFindings,
    hints: SimulationHints,
    evidence: tuple[EvidenceRow, ...],
) -> CodeVerdict:
    return CodeVerdict(
        implementation=trail.implementation,
        findings=msgspec.structs.replace(findings, is_proxy=trail.is_proxy),
        owner_slots=judged.owner_slots,
        packed_owners=judged.packed_owners,
        clock_limits=judged.clock_limits,
        hints=hints,
        conditions=judged.conditions,
        cap_rules=judged.cap_rules,
        is_replaceable=_is_replaceable(trail),
        evidence=evidence,
        shape=judged.shape,
    )


async def _other_targets(
    reader: BlockReader,
    trail: proxy_resolution.ProxySearch,
    delegation: Delegation,
    *,
    examine: Examine,
) -> list[CodeAnalysis]:
    """Return the analyses of targets that a front delegates to at another time, or for other
    callers."""
    if not delegation.has_several:
        return []
    batch = reader.batch()
    unread = {
        slot: batch.slot(trail.token, slot) for slot in delegation.slots if slot not in trail.words
    }
    await reader.send(batch)
    words = trail.words | {slot: batch[word] for slot, word in unread.items()}
    held = (address_of(words[slot] & ADDRESS_MASK) for slot in delegation.slots)
    named = dict.fromkeys((*delegation.targets, *(each for each in held if each is not None)))
    others = [each for each in named if each not in (*trail.hops, ZERO_ADDRESS)][:_MOST_OTHERS]
    batch = reader.batch()
    codes = [batch.code(other) for other in others]
    await reader.send(batch)
    return [await examine(code) for other in codes if (code := batch[other])]


def _with_front(front: CodeAnalysis, behind: Sequence[CodeAnalysis]) -> TradeConditions:
    """Join the conditions of the codes: a proxy may choose by its own conditions where a call goes.

    What the proxy's own administrator decides is told by `is_proxy`, and is not owned here.
    """
    every = [front.conditions, *(each.conditions for each in behind)]
    return TradeConditions(
        conditions=_distinct(each.conditions for each in every),
        owned=_distinct(each.owned for each in every[1:]),
        is_complete=all(each.is_complete for each in every),
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


def _unjudged(own: CodeAnalysis | None, trail: proxy_resolution.ProxySearch) -> CodeVerdict:
    """Return the verdict for a proxy whose implementation was not found, with unknown findings."""
    return CodeVerdict(
        implementation=None,
        findings=StaticFindings(timebomb=None, is_proxy=trail.is_proxy),
        owner_slots=(),
        is_replaceable=None,
        evidence=_of_proxy(own, None),
    )


def _of_proxy(own: CodeAnalysis | None, judged: CodeAnalysis | None) -> tuple[EvidenceRow, ...]:
    """Return the front's evidence that counts: on the proxy, and where the code behind it has
    none."""
    rows = () if own is None else own.evidence
    known = {row.key for row in judged.evidence} if judged is not None else set()
    return tuple(
        row
        for row in rows
        if row.key == "is_proxy" or (row.key in _OF_FRONTS and row.key not in known)
    )


_OF_FRONTS = frozenset({"timebomb"})
_MOST_OTHERS = 3
