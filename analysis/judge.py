"""Whose code answers for a token, and what that code can do."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from analysis import proxy
from analysis.cap_rules import CapRules
from analysis.clock_limits import ClockLimit
from analysis.code.examine import Findings
from analysis.code.leads import UNKNOWN_LEADS, Leads
from analysis.node import Node, RpcAnswer
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
    leads: Leads = UNKNOWN_LEADS
    """What simulations of the judged code are to try."""
    cap_rules: CapRules = CapRules()
    """How the judged code enforces caps; slots are the token's."""
    evidence: tuple[EvidenceRow, ...]


Examine = Callable[[bytes], Awaitable[Findings]]
"""What a code tells by itself, looked up or worked out beside the event loop."""


async def judge_code(
    node: Node,
    token: Address,
    code: bytes,
    answers: Sequence[RpcAnswer],
    *,
    block: Hash32,
    examine: Examine,
) -> Judged:
    """Follow a proxy to its code. `answers` are those to proxy.first_requests.

    Raises UpstreamError.
    """
    trail = proxy.begin(token, code=code, answers=answers)
    while trail.wants is not None:
        if isinstance(trail.wants, proxy.FactsOf):
            trail = proxy.learn(trail, await examine(trail.wants.code))
        else:
            trail = proxy.read(trail, await node.batch(proxy.requests(trail, block=block)))
    own, judged = trail.own, trail.found
    if trail.code is None or judged is None:
        return _unjudged(own, trail)
    return Judged(
        implementation=trail.implementation,
        findings=msgspec.structs.replace(judged.findings, is_proxy=trail.is_proxy),
        owner_slots=judged.owner_slots,
        clock_limits=judged.clock_limits,
        leads=judged.leads,
        cap_rules=judged.cap_rules,
        evidence=judged.evidence if judged is own else (*judged.evidence, *_of_proxy(own)),
    )


def _unjudged(own: Findings | None, trail: proxy.Trail) -> Judged:
    """A proxy to nowhere known: what an implementation would do is not known either."""
    return Judged(
        implementation=None,
        findings=StaticFindings(timebomb=None, is_proxy=trail.is_proxy),
        owner_slots=(),
        evidence=_of_proxy(own),
    )


def _of_proxy(own: Findings | None) -> tuple[EvidenceRow, ...]:
    rows = () if own is None else own.evidence
    return tuple(row for row in rows if row.key == "is_proxy")
