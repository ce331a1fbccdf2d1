"""Checks of recent pool and launch events, and of the configured start blocks."""

from collections.abc import Sequence

import msgspec

from analysis.market.venues.venue_registry import venue_of
from assay.doctor.check import (
    Asking,
    Check,
    CheckFinding,
    NotHeldError,
    Steps,
    Subject,
    ask,
    describe_answer,
    is_result,
    ok,
)
from assay.doctor.log_sets import NodeLog, logs_of
from config.facts.chain import Dex
from core.evm.primitives import Address, Hash32
from core.rpc.messages import RpcRequest
from indexer.decode.pool_events import CREATION_TOPICS

_SHRINK = 8
_LEAST_BLOCKS = 8


class RecentLogs(msgspec.Struct, frozen=True, kw_only=True):
    """Logs and the number of blocks searched."""

    logs: list[NodeLog]
    blocks: int


def recent_logs(
    subject: Subject,
    contracts: Sequence[Address],
    topics: Sequence[Hash32] = (),
    *,
    until: int | None = None,
) -> Asking[RecentLogs]:
    """Search blocks up to `until`, in the longest accepted range. None: up to the head.

    Raises NotHeldError where even few blocks are refused.
    """
    last = subject.head.number if until is None else until
    size = min(subject.indexer.max_log_range, last + 1)
    while True:
        where: dict[str, object] = {
            "fromBlock": hex(last - size + 1),
            "toBlock": hex(last),
            "address": list(dict.fromkeys(contracts)),
        }
        if topics:
            where["topics"] = [list(topics)]
        answers = yield ask(RpcRequest("eth_getLogs", (where,)))
        if is_result(answers[0]):
            return RecentLogs(logs=logs_of(answers[0], what="recent logs"), blocks=size)
        if size <= _LEAST_BLOCKS:
            message = f"logs of {size} blocks: {describe_answer(answers[0])}"
            raise NotHeldError(message)
        size = max(size // _SHRINK, _LEAST_BLOCKS)


_MOST_TOPICS = 3


def _check_pools_announced(subject: Subject) -> Steps:
    dexes = subject.chain.dexes
    found = yield from recent_logs(subject, [dex.factory for dex in dexes], CREATION_TOPICS)
    counts: dict[str, int] = {}
    for log in found.logs:
        counts[log.address.lower()] = counts.get(log.address.lower(), 0) + 1
    findings = []
    for dex in dexes:
        if dex.factory in counts:
            seen = f"{counts[dex.factory]} pools in {found.blocks} blocks"
            findings.append(ok(seen, subject=dex.name))
        else:
            findings.append((yield from _quiet_factory(subject, dex, found.blocks)))
    return findings


def _quiet_factory(subject: Subject, dex: Dex, blocks: int) -> Asking[CheckFinding]:
    """Report a factory without recent pools: quiet, or with events of another form."""
    seen = f"no pool in {blocks} blocks: quiet, or another contract"
    quiet = CheckFinding(status="unknown", subject=dex.name, seen=seen)
    if venue_of(dex).entries is not None:
        return quiet  # trades are events of the same contract
    try:
        others = yield from recent_logs(subject, [dex.factory])
    except NotHeldError:
        return quiet
    topics = sorted({log.topics[0] for log in others.logs if log.topics})
    if not topics:
        return quiet
    seen = f"no pool in {others.blocks} blocks, but events {', '.join(topics[:_MOST_TOPICS])}"
    return CheckFinding(status="unknown", subject=dex.name, seen=seen)


POOLS_ANNOUNCED = Check(
    name="pool events",
    group="facts",
    question="do the factories announce pools as configured",
    look=_check_pools_announced,
    severity="degraded",
    costs="if it is another contract, its pools are never found",
    mend="compare the factory with the exchange's documents; correct the overlay's [[dex]]",
)


def _check_launches(subject: Subject) -> Steps:
    pads = [pad for pad in subject.chain.launchpads if pad.event]
    if not pads:
        return [ok("no platform with events is configured")]
    contracts = [one for pad in pads for one in pad.contracts]
    topics = sorted({event.topic for pad in pads for event in pad.event})
    found = yield from recent_logs(subject, contracts, topics)
    findings = []
    for pad in pads:
        pad_topics = {event.topic for event in pad.event}
        own = [
            log
            for log in found.logs
            if log.address.lower() in pad.contracts and log.topics[0] in pad_topics
        ]
        if own:
            findings.append(ok(f"{len(own)} launches in {found.blocks} blocks", subject=pad.slug))
        else:
            seen = f"no launch in {found.blocks} blocks: quiet, or another contract"
            findings.append(CheckFinding(status="unknown", subject=pad.slug, seen=seen))
    return findings


LAUNCHES_ANNOUNCED = Check(
    name="launch events",
    group="facts",
    question="do the launch platforms announce tokens as configured",
    look=_check_launches,
    severity="degraded",
    costs="if it is another contract, its tokens are not recognised as launched there",
    mend="compare the contract with the platform's documents; correct the overlay's [[launchpad]]",
)


def _check_start_blocks(subject: Subject) -> Steps:
    findings = []
    for dex in subject.chain.dexes:
        findings.append((yield from _start_block_finding(subject, dex)))
    return findings


def _start_block_finding(subject: Subject, dex: Dex) -> Asking[CheckFinding]:
    first = dex.from_block
    if first is None:
        return CheckFinding(status="skipped", subject=dex.name, seen="from_block is not configured")
    if first > subject.head.number:
        seen = f"from_block {first} is above the head {subject.head.number}"
        return CheckFinding(status="failed", subject=dex.name, seen=seen)
    if first == 0:
        return ok("from the first block", subject=dex.name)
    before = yield from recent_logs(subject, [dex.factory], CREATION_TOPICS, until=first - 1)
    if before.logs:
        seen = f"{len(before.logs)} pools in the {before.blocks} blocks before from_block {first}"
        return CheckFinding(status="failed", subject=dex.name, seen=seen)
    return ok(f"no pool in the {before.blocks} blocks before {first}", subject=dex.name)


START_BLOCKS = Check(
    name="start blocks",
    group="facts",
    question="is from_block before the first pool",
    look=_check_start_blocks,
    costs="a back-fill begins too late: the exchange's oldest pools are missing",
    mend="lower from_block in the overlay's [[dex]]",
)
