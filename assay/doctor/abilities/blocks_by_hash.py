"""Whether blocks asked for by hash and by height are the same, and linked to their parents."""

from assay.doctor.check import Check, CheckFinding, Steps, Subject, ask, ok, result_of
from assay.doctor.tracers import drawn_word
from core.rpc.headers import block_request, decode_header, header_request


def _look(subject: Subject) -> Steps:
    head = subject.head
    answers = yield ask(
        block_request(head.ref.hash),
        header_request(max(0, head.number - 1)),
        block_request(drawn_word(head, "no block")),
    )
    by_hash, before, unknown = (
        decode_header(result_of(answers[at], asked=asked), asked=asked)
        for at, asked in enumerate(("block by hash", "block by number", "block of no such hash"))
    )
    if by_hash is None or by_hash.ref != head.ref:
        return [
            CheckFinding(status="failed", seen=f"block {head.ref.hash} by hash is another, or none")
        ]
    if unknown is not None:
        seen = f"a hash of no block is answered with block {unknown.number}"
        return [CheckFinding(status="failed", seen=seen)]
    if head.number and (before is None or before.ref.hash != head.ref.parent_hash):
        seen = f"block {head.number - 1} is not the parent of block {head.number}"
        return [CheckFinding(status="failed", seen=seen)]
    return [ok(f"block {head.number} and its parent")]


CHECK = Check(
    name="blocks by hash",
    group="node",
    question="are blocks by hash and by height the same",
    look=_look,
    costs="the chain cannot be followed: blocks near the head are asked for by hash",
    mend="ask the endpoint's operator: several nodes behind one address may be out of step",
)
