"""Whether the logs of a block are all there: by query, by receipts, and as the bloom filter tells.

A silent gap is the worst a node can do to an index: nothing else shows it.
"""

from assay.doctor.check import (
    Check,
    CheckFinding,
    ProbeAnswer,
    ProbeAnswers,
    ProbeFailure,
    Steps,
    Subject,
    ask,
    describe_answer,
    ok,
    result_of,
)
from assay.doctor.log_sets import logs_of, query_block, receipt_logs, untold
from core.rpc.headers import Header, decode_header, header_request
from core.rpc.messages import RpcFault, RpcRequest
from core.rpc.ranges import is_address_refusal

_LOOKED_AT = 64
_COMPARED = 4


def _look(subject: Subject) -> Steps:
    newest = subject.head.number
    heights = range(newest, max(-1, newest - _LOOKED_AT), -1)
    answers = yield ask(*(header_request(height) for height in heights))
    blocks = _with_logs(answers)[:_COMPARED]
    if not blocks:
        seen = f"none of the last {len(heights)} blocks has logs"
        return [CheckFinding(status="unknown", seen=seen)]
    answers = yield ask(
        *(query_block(header) for header in blocks),
        *(RpcRequest("eth_getBlockReceipts", (header.ref.hash,)) for header in blocks),
    )
    findings = [_judge(header, answers, at, len(blocks)) for at, header in enumerate(blocks)]
    wrong = [finding for finding in findings if finding.status != "ok"]
    return wrong[:1] or [ok(f"{len(blocks)} blocks: query, receipts and bloom filter agree")]


def _with_logs(answers: ProbeAnswers) -> list[Header]:
    headers = (
        decode_header(result_of(one, asked="a header"), asked="a header") for one in answers.all
    )
    return [header for header in headers if header is not None and header.logs_bloom]


def _judge(header: Header, answers: ProbeAnswers, at: int, count: int) -> CheckFinding:
    asked = f"logs of block {header.number}"
    by_query, receipts = answers[at], answers[count + at]
    if isinstance(by_query, RpcFault) and is_address_refusal(by_query):
        return _judge_receipts(header, receipts, asked)
    found = logs_of(by_query, asked=f"{asked} by hash")
    if untold(header, found):
        return _failed(f"{asked} by query lack some that its bloom filter tells of")
    if isinstance(receipts, RpcFault | ProbeFailure):
        seen = f"eth_getBlockReceipts: {describe_answer(receipts)}; the bloom filter agrees"
        return CheckFinding(status="ok", seen=seen)
    judged = _judge_receipts(header, receipts, asked)
    told = receipt_logs(receipts, asked=asked) or []
    if judged.status != "ok":
        return judged
    if {log.log_index for log in told} != {log.log_index for log in found}:
        return _failed(f"{len(found)} {asked} by query, {len(told)} by its receipts")
    return ok(asked)


def _judge_receipts(header: Header, receipts: ProbeAnswer, asked: str) -> CheckFinding:
    told = receipt_logs(receipts, asked=f"{asked} by receipts")
    if told is None:
        return _failed(f"there are no receipts of block {header.number}")
    if untold(header, told):
        return _failed(f"{asked} by receipts lack some that its bloom filter tells of")
    return ok(asked)


def _failed(seen: str) -> CheckFinding:
    return CheckFinding(status="failed", seen=seen)


CHECK = Check(
    name="logs of a block",
    group="logs",
    question="are all logs of a block answered",
    look=_look,
    costs="pools, holders and trades are missing without a trace",
    mend="do not index from this endpoint; tell its operator the block's number",
)
