"""Whose code answers for a token, and what that code can do."""

import asyncio
from collections.abc import Sequence

import msgspec

from analysis import proxy
from analysis.clock_limits import ClockLimit
from analysis.node import Node, RpcAnswer
from analysis.static.examine import Findings, examine
from analysis.static.leads import NO_LEADS, Leads
from config.primitives import Address, Hash32
from sql.rows import EvidenceRow, StaticFindings


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """The static part of an analysis."""

    implementation: Address | None
    """Where the judged code is. None: at the token itself, or not found."""
    findings: StaticFindings
    """Of the implementation, for a proxy; `is_proxy` is of the token's own address."""
    owner_slots: tuple[Hash32, ...]
    """Slots of the token that the judged code compares with the caller."""
    clock_limits: tuple[ClockLimit, ...] = ()
    """What the judged code compares with the clock; slots are the token's."""
    leads: Leads = NO_LEADS
    """What simulations of the judged code are to try."""
    evidence: tuple[EvidenceRow, ...]


async def judge_code(
    node: Node, token: Address, code: bytes, answers: Sequence[RpcAnswer], *, block: Hash32
) -> Judged:
    """Follow a proxy to its code and examine that. `answers` are those to proxy.first_requests.

    Examining is work for the processor, so it is done beside the event loop. Raises UpstreamError.
    """
    trail = await asyncio.to_thread(proxy.begin, token, code=code, answers=answers)
    while trail.wants is not None:
        told = await node.batch(proxy.requests(trail, block=block))
        trail = await asyncio.to_thread(proxy.read, trail, told)
    own = await asyncio.to_thread(examine, code)
    if trail.code is None:
        return _unjudged(own, trail)
    judged = await asyncio.to_thread(examine, trail.code)
    return Judged(
        implementation=trail.implementation,
        findings=msgspec.structs.replace(judged.findings, is_proxy=trail.is_proxy),
        owner_slots=judged.owner_slots,
        clock_limits=judged.clock_limits,
        leads=judged.leads,
        evidence=judged.evidence if judged is own else (*judged.evidence, *_of_proxy(own)),
    )


def _unjudged(own: Findings, trail: proxy.Trail) -> Judged:
    """A proxy to nowhere known: what an implementation would do is not known either."""
    return Judged(
        implementation=None,
        findings=StaticFindings(timebomb=None, is_proxy=trail.is_proxy),
        owner_slots=(),
        evidence=_of_proxy(own),
    )


def _of_proxy(own: Findings) -> tuple[EvidenceRow, ...]:
    return tuple(row for row in own.evidence if row.key == "is_proxy")
