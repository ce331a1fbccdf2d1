"""Whether a query for logs of many blocks gives all that its parts give, also where they are many.

Some nodes and gateways cut an answer at a number of blocks or logs and do not say so.
"""

from assay.doctor.check import (
    Asking,
    Check,
    CheckFinding,
    ProbeAnswers,
    Steps,
    Subject,
    ask,
    describe_answer,
    is_result,
    ok,
    result_of,
)
from assay.doctor.log_sets import NodeLog, logs_of, query, query_block
from core.rpc.headers import decode_header, header_request
from indexer.reads import TOPICS

_FIRST = 16
_MOST_LOGS = 5_000
_MOST_BLOCKS = 512


def _look(subject: Subject) -> Steps:
    """Wider and wider ranges that end at the head; each against its halves, whose logs were
    read before, and against its two ends by block."""
    head = subject.head.number
    size, compared = min(_FIRST, head + 1), 0
    whole: list[NodeLog] = []
    while True:
        first, middle = head - size + 1, head - size // 2
        answers = yield ask(
            query(first, head, TOPICS),
            query(first, middle, TOPICS),
            *([query(middle + 1, head, TOPICS)] if middle < head else []),
        )
        if not is_result(answers[0]):
            if compared:
                break
            seen = f"logs of {size} blocks: {describe_answer(answers[0])}"
            return [CheckFinding(status="unknown", seen=seen)]
        whole = logs_of(answers[0], asked=f"logs of {size} blocks")
        lost = _lost(whole, answers, size) or (yield from _lost_at_ends(whole, first, head))
        if lost:
            return [CheckFinding(status="failed", seen=f"{lost}, without an error")]
        compared = size
        if len(whole) > _MOST_LOGS or size >= min(_MOST_BLOCKS, head + 1):
            break
        size = min(4 * size, head + 1, _MOST_BLOCKS)
    if not whole:
        seen = f"no transfer and no pool in {compared} blocks to compare"
        return [CheckFinding(status="unknown", seen=seen, costs="")]
    return [ok(f"{len(whole)} logs of {compared} blocks, as by halves and by block")]


def _lost(whole: list[NodeLog], answers: ProbeAnswers, size: int) -> str:
    parts = [log for answer in answers.all[1:] for log in logs_of(answer, asked="logs of a half")]
    if _keys(parts) == _keys(whole):
        return ""
    return f"{len(whole)} logs of {size} blocks in one query, {len(parts)} in two"


def _lost_at_ends(whole: list[NodeLog], first: int, last: int) -> Asking[str]:
    """Return what the range lacks of its first and last block, read by hash; empty: nothing."""
    answers = yield ask(header_request(first), header_request(last))
    headers = [
        decode_header(result_of(one, asked="a header"), asked="a header") for one in answers.all
    ]
    ends = [header for header in headers if header is not None and header.logs_bloom]
    answers = yield ask(*(query_block(header, TOPICS) for header in ends))
    for header, answer in zip(ends, answers.all, strict=True):
        own = _keys(logs_of(answer, asked=f"logs of block {header.number}"))
        held = {key for key in _keys(whole) if key[0] == header.number}
        if own != held:
            lost = f"{len(held)} logs of block {header.number} in a query of a range, "
            return f"{lost}{len(own)} by its hash"
    return ""


def _keys(logs: list[NodeLog]) -> set[tuple[int, str]]:
    return {(log.height, log.log_index) for log in logs}


CHECK = Check(
    name="log gaps",
    group="logs",
    question="does a long range give all logs of its parts",
    look=_look,
    costs="a back-fill misses pools, holders and trades without a trace",
    mend="do not back-fill from this endpoint, or set indexer.max_log_range below the cut",
)
