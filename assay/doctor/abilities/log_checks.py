"""Checks of logs and receipts: every log of a block or range is answered."""

import msgspec

from assay.doctor.check import (
    Asking,
    Check,
    CheckFinding,
    ProbeAnswer,
    ProbeAnswers,
    ProbeFailure,
    Steps,
    Subject,
    ask,
    describe_answer,
    is_result,
    ok,
    result_of,
)
from assay.doctor.log_sets import NodeLog, lacks_logs, logs_of, query, query_block, receipt_logs
from core.rpc.headers import Header, decode_header, header_request
from core.rpc.messages import RpcFault, RpcRequest
from core.rpc.ranges import is_address_refusal
from indexer.block_spans import TOPICS
from indexer.decode.pool_events import CREATION_TOPICS


def _check_logs_of_all(subject: Subject) -> Steps:
    head = subject.head
    answers = yield ask(query(head.number, head.number, TOPICS), query_block(head, TOPICS))
    for answer in answers.all:
        if isinstance(answer, RpcFault) and is_address_refusal(answer):
            return [CheckFinding(status="degraded", seen=describe_answer(answer))]
        result_of(answer, what="logs of one block of all contracts")
    return [ok("by range and by block hash")]


LOGS_OF_ALL = Check(
    name="logs of all contracts",
    group="logs",
    question="can logs be asked for without addresses",
    look=_check_logs_of_all,
    costs="receipts of whole blocks are read instead: far more bytes, and back-fills of 64 "
    "blocks at a time",
    mend="add an endpoint that answers eth_getLogs without addresses",
)


_SEARCHED_BLOCKS = 64
_COMPARED_BLOCKS = 4


def _check_block_logs(subject: Subject) -> Steps:
    newest = subject.head.number
    heights = range(newest, max(-1, newest - _SEARCHED_BLOCKS), -1)
    answers = yield ask(*(header_request(height) for height in heights))
    blocks = _with_logs(answers)[:_COMPARED_BLOCKS]
    if not blocks:
        seen = f"none of the last {len(heights)} blocks has logs"
        return [CheckFinding(status="unknown", seen=seen)]
    answers = yield ask(
        *(query_block(header) for header in blocks),
        *(RpcRequest("eth_getBlockReceipts", (header.ref.hash,)) for header in blocks),
    )
    findings = [
        _compare_block(header, answers, at, len(blocks)) for at, header in enumerate(blocks)
    ]
    wrong = [finding for finding in findings if finding.status != "ok"]
    return wrong[:1] or [ok(f"{len(blocks)} blocks: query, receipts and bloom filter agree")]


def _with_logs(answers: ProbeAnswers) -> list[Header]:
    headers = (
        decode_header(result_of(one, what="a header"), request="a header") for one in answers.all
    )
    return [header for header in headers if header is not None and header.logs_bloom]


def _compare_block(header: Header, answers: ProbeAnswers, at: int, count: int) -> CheckFinding:
    what = f"logs of block {header.number}"
    by_query, receipts = answers[at], answers[count + at]
    if isinstance(by_query, RpcFault) and is_address_refusal(by_query):
        return _compare_receipts(header, receipts, what)
    found = logs_of(by_query, what=f"{what} by hash")
    if lacks_logs(header, found):
        return _failed(f"{what} by query lack some that its bloom filter tells of")
    if isinstance(receipts, RpcFault | ProbeFailure):
        seen = f"eth_getBlockReceipts: {describe_answer(receipts)}; the bloom filter agrees"
        return CheckFinding(status="ok", seen=seen)
    finding = _compare_receipts(header, receipts, what)
    by_receipts = receipt_logs(receipts, what=what) or []
    if finding.status != "ok":
        return finding
    if {log.log_index for log in by_receipts} != {log.log_index for log in found}:
        return _failed(f"{len(found)} {what} by query, {len(by_receipts)} by its receipts")
    return ok(what)


def _compare_receipts(header: Header, receipts: ProbeAnswer, what: str) -> CheckFinding:
    logs = receipt_logs(receipts, what=f"{what} by receipts")
    if logs is None:
        return _failed(f"there are no receipts of block {header.number}")
    if lacks_logs(header, logs):
        return _failed(f"{what} by receipts lack some that its bloom filter tells of")
    return ok(what)


def _failed(seen: str) -> CheckFinding:
    return CheckFinding(status="failed", seen=seen)


BLOCK_LOGS = Check(
    name="logs of a block",
    group="logs",
    question="are all logs of a block answered",
    look=_check_block_logs,
    costs="pools, holders and trades are missing without a trace",
    mend="do not index from this endpoint; tell its operator the block's number",
)


_MOST_SEARCH = 8


def _check_log_ranges(subject: Subject) -> Steps:
    """Query rare events, so that the number of blocks is the only limit."""
    head = subject.head.number
    most = min(subject.indexer.max_log_range, head + 1)
    factories = [dex.factory for dex in subject.chain.dexes]
    accepted, refused, size, said = 0, None, min(subject.indexer.initial_log_range, most), ""
    for _ in range(_MOST_SEARCH + 8):
        answers = yield ask(query(head - size + 1, head, CREATION_TOPICS, factories))
        if not is_result(answers[0]):
            refused, said = size, describe_answer(answers[0])
        else:
            accepted = size
        if accepted == most or refused == 1:
            break
        if refused is not None and refused - accepted <= max(1, accepted // 8):
            break
        size = min(4 * size, most) if refused is None else (accepted + refused) // 2
    if accepted == most:
        return [ok(f"{most} blocks in one query")]
    seen = f"{accepted} blocks in one query; of {refused}: {said}"
    return [CheckFinding(status="degraded" if accepted else "failed", seen=seen)]


LOG_RANGES = Check(
    name="log ranges",
    group="logs",
    question="how many blocks may a query for logs span",
    look=_check_log_ranges,
    costs="a back-fill takes as many queries more; histories of holders are cut at "
    "indexer.history_requests",
    mend="back-fill from a node of your own, or set indexer.max_log_range so that none is refused",
)


_FIRST_RANGE = 16
_MOST_COMPARED_LOGS = 5_000
_MOST_COMPARED_BLOCKS = 512


def _check_log_gaps(subject: Subject) -> Steps:
    """Compare growing ranges that end at the head with their halves, and with their first and last
    block."""
    head = subject.head.number
    size, compared = min(_FIRST_RANGE, head + 1), 0
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
        whole = logs_of(answers[0], what=f"logs of {size} blocks")
        lost = _find_lost(whole, answers, size) or (
            yield from _find_lost_at_ends(whole, first, head)
        )
        if lost:
            return [CheckFinding(status="failed", seen=f"{lost}, without an error")]
        compared = size
        if len(whole) > _MOST_COMPARED_LOGS or size >= min(_MOST_COMPARED_BLOCKS, head + 1):
            break
        size = min(4 * size, head + 1, _MOST_COMPARED_BLOCKS)
    if not whole:
        seen = f"no transfer and no pool in {compared} blocks to compare"
        return [CheckFinding(status="unknown", seen=seen, costs="")]
    return [ok(f"{len(whole)} logs of {compared} blocks, as by halves and by block")]


def _find_lost(whole: list[NodeLog], answers: ProbeAnswers, size: int) -> str:
    parts = [log for answer in answers.all[1:] for log in logs_of(answer, what="logs of a half")]
    if _log_keys(parts) == _log_keys(whole):
        return ""
    return f"{len(whole)} logs of {size} blocks in one query, {len(parts)} in two"


def _find_lost_at_ends(whole: list[NodeLog], first: int, last: int) -> Asking[str]:
    """Describe the logs of its first and last block that the range lacks; empty: none."""
    answers = yield ask(header_request(first), header_request(last))
    headers = [
        decode_header(result_of(one, what="a header"), request="a header") for one in answers.all
    ]
    ends = [header for header in headers if header is not None and header.logs_bloom]
    answers = yield ask(*(query_block(header, TOPICS) for header in ends))
    for header, answer in zip(ends, answers.all, strict=True):
        own = _log_keys(logs_of(answer, what=f"logs of block {header.number}"))
        in_range = {key for key in _log_keys(whole) if key[0] == header.number}
        if own != in_range:
            lost = f"{len(in_range)} logs of block {header.number} in a query of a range, "
            return f"{lost}{len(own)} by its hash"
    return ""


def _log_keys(logs: list[NodeLog]) -> set[tuple[int, str]]:
    return {(log.height, log.log_index) for log in logs}


LOG_GAPS = Check(
    name="log gaps",
    group="logs",
    question="does a long range give all logs of its parts",
    look=_check_log_gaps,
    costs="a back-fill misses pools, holders and trades without a trace",
    mend="do not back-fill from this endpoint, or set indexer.max_log_range below the cut",
)


_RECEIPT_BLOCKS = 64


class _BlockHashes(msgspec.Struct):
    transactions: list[str]
    hash: str


class _Receipt(msgspec.Struct, rename="camel"):
    transaction_hash: str
    block_hash: str


def _check_receipts(subject: Subject) -> Steps:
    head = subject.head.number
    heights = [at for at in range(head, head - _RECEIPT_BLOCKS, -1) if at >= 0]
    answers = yield ask(*(header_request(at) for at in heights))
    blocks = [
        msgspec.json.decode(result_of(one, what="a block"), type=_BlockHashes | None)
        for one in answers.all
    ]
    at = next((at for at, one in enumerate(blocks) if one is not None and one.transactions), 0)
    block = blocks[at]
    if block is None:
        return [CheckFinding(status="failed", seen=f"there is no block {heights[at]}")]
    sent = block.transactions[:1]
    answers = yield ask(
        RpcRequest("eth_getBlockReceipts", (block.hash,)),
        RpcRequest("eth_getBlockReceipts", (hex(heights[at]),)),
        *(RpcRequest("eth_getTransactionReceipt", (one,)) for one in sent),
    )
    found = [
        msgspec.json.decode(result_of(one, what=what), type=list[_Receipt])
        for one, what in zip(answers.all, ("receipts by hash", "receipts by number"), strict=False)
    ]
    wanted = [*block.transactions]
    if any([one.transaction_hash for one in receipts] != wanted for receipts in found):
        seen = f"receipts of block {heights[at]} are not those of its {len(wanted)} transactions"
        return [CheckFinding(status="failed", seen=seen)]
    for one in answers.all[2:]:
        receipt = msgspec.json.decode(
            result_of(one, what="eth_getTransactionReceipt"), type=_Receipt
        )
        if receipt.block_hash != block.hash:
            return [CheckFinding(status="failed", seen="a receipt names another block")]
    if not wanted:
        seen = f"no transaction in {len(heights)} blocks: the lists of receipts are empty"
        return [CheckFinding(status="unknown", seen=seen, costs="")]
    return [ok(f"{len(wanted)} receipts of block {heights[at]}")]


BLOCK_RECEIPTS = Check(
    name="receipts",
    group="logs",
    question="are receipts answered by block",
    look=_check_receipts,
    severity="degraded",
    costs="creators of tokens stay unknown; where logs of all contracts are refused too, the chain "
    "cannot be followed",
    mend="use a client with eth_getBlockReceipts",
)
