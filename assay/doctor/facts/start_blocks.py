"""Whether from_block is at or before the first pool of each exchange: none is announced just below
it, and the head is above."""

from assay.doctor.check import Asking, Check, CheckFinding, Steps, Subject, ok
from assay.doctor.recent_logs import recent_logs
from config.chains import Dex
from indexer.decode.pool_events import CREATION_TOPICS


def _look(subject: Subject) -> Steps:
    findings = []
    for dex in subject.chain.dexes:
        findings.append((yield from _judge(subject, dex)))
    return findings


def _judge(subject: Subject, dex: Dex) -> Asking[CheckFinding]:
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


CHECK = Check(
    name="start blocks",
    group="facts",
    question="is from_block before the first pool",
    look=_look,
    costs="a back-fill begins too late: the exchange's oldest pools are missing",
    mend="lower from_block in the overlay's [[dex]]",
)
