"""Checks of limits: batch and message sizes, latency, request rate."""

from assay.doctor.check import (
    Check,
    CheckFinding,
    ProbeAnswer,
    ProbeAnswers,
    ProbeFailure,
    Question,
    Steps,
    Subject,
    describe_answer,
    ok,
    result_of,
)
from assay.doctor.contract_reads import bytes_in
from assay.doctor.tracers import call_with, drawn_address, pinned
from core.rpc.headers import LATEST
from core.rpc.messages import RpcFault, RpcRequest
from core.rpc.wire import is_passing

_BATCH_SIZES = (2, 10, 30)


def _check_batches(subject: Subject) -> Steps:
    most = subject.rpc.max_batch
    accepted = 1
    for size in (*(size for size in _BATCH_SIZES if size < most), most):
        requests = tuple(
            RpcRequest("eth_getBlockByNumber", (hex(max(0, subject.head.number - at)), False))
            for at in range(size)
        )
        answers = yield Question(requests=requests, sending="one message")
        refusal = _find_refusal(answers)
        if refusal is not None:
            seen = f"{accepted} requests in one message; of {size}: {describe_answer(refusal)}"
            return [CheckFinding(status="degraded", seen=seen)]
        accepted = size
    return [ok(f"{accepted} requests in one message")]


def _find_refusal(answers: ProbeAnswers) -> ProbeFailure | RpcFault | None:
    return next((one for one in answers.all if isinstance(one, ProbeFailure | RpcFault)), None)


BATCHES = Check(
    name="batches",
    group="limits",
    question="how many requests may one message hold",
    look=_check_batches,
    severity="degraded",
    costs="nothing is lost: requests go in smaller messages, which takes longer",
    mend="set rpc.max_batch to what is accepted; most gateways count each request anyway",
)


_REQUEST_BYTES = 256 * 1024
"""Bytes of call data, twice that in hex: about the largest pack of reads."""
_ANSWER_BYTES = 512 * 1024
_RETURN_ZEROS = f"0x62{_ANSWER_BYTES:06x}6000f3"
"""Code that returns `_ANSWER_BYTES` zeros."""


def _check_message_sizes(subject: Subject) -> Steps:
    block, account = pinned(subject.head), drawn_address(subject.head, "talker")
    requests = {
        "request": call_with(None, block, to=account, data="0x" + "00" * _REQUEST_BYTES),
        "answer": call_with({account: {"code": _RETURN_ZEROS}}, block, to=account, data="0x"),
    }
    findings = []
    for name, request in requests.items():
        answers = yield Question(requests=(request,), sending="one message")
        size = _REQUEST_BYTES if name == "request" else _ANSWER_BYTES
        refusal = _find_size_refusal(answers[0])
        if refusal is not None:
            seen = f"no {name} of {2 * size // 1024} KB: {refusal}"
            findings.append(CheckFinding(status="degraded", seen=seen))
        elif name == "answer" and len(bytes_in(answers[0])) != _ANSWER_BYTES:
            seen = f"no {name} of {2 * size // 1024} KB could be provoked"
            findings.append(CheckFinding(status="unknown", seen=seen, costs=""))
    return findings or [
        ok(f"a request of {_REQUEST_BYTES // 512} KB, an answer of {_ANSWER_BYTES // 512} KB")
    ]


def _find_size_refusal(answer: ProbeAnswer) -> str | None:
    """Return the refusal of the size. None: the call was run, with any result."""
    if isinstance(answer, ProbeFailure):
        return answer.reason
    if isinstance(answer, RpcFault) and any(word in answer.message.lower() for word in _SIZE_WORDS):
        return answer.message
    return None


_SIZE_WORDS = ("too large", "too long", "too big", "exceeds the limit", "payload", "size limit")

MESSAGE_SIZES = Check(
    name="message sizes",
    group="limits",
    question="how long may a request and an answer be",
    look=_check_message_sizes,
    severity="degraded",
    costs="packs of reads for tokens with very many pools go in parts, which takes longer",
    mend="raise the gateway's limit on bodies (nginx: client_max_body_size) to 2 MB",
)


_ROUND_TRIPS = 12
_MOST_MEDIAN_S = 1.0
"""With it three round trips of an analysis and their simulations fit into analysis.wait_s."""
_MOST_P95_S = 2.0


def _check_latency(_: Subject) -> Steps:
    taken: list[float] = []
    for _round in range(_ROUND_TRIPS):
        answers = yield Question(requests=(LATEST,), sending="one message")
        result_of(answers[0], what="latest block")
        taken += answers.elapsed_s
    taken.sort()
    median, p95 = taken[len(taken) // 2], taken[min(len(taken) - 1, len(taken) * 95 // 100)]
    seen = f"median {1000 * median:.0f} ms, p95 {1000 * p95:.0f} ms"
    if median > _MOST_MEDIAN_S or p95 > _MOST_P95_S:
        return [CheckFinding(status="degraded", seen=seen)]
    return [ok(seen)]


LATENCY = Check(
    name="latency",
    group="limits",
    question="how long does a round trip take",
    look=_check_latency,
    severity="degraded",
    costs="an analysis is three to four round trips: callers get pending trades first",
    mend="use a node nearer to the service, or raise analysis.wait_s",
)


_BURST = 40
"""About the number of calls of one analysis."""


def _check_rate_limit(_: Subject) -> Steps:
    answers = yield Question(requests=(RpcRequest("eth_blockNumber"),) * _BURST, sending="at once")
    refused = [one for one in answers.all if _is_rate_refusal(one)]
    silent = [one for one in answers.all if isinstance(one, ProbeFailure) and one.kind != "rate"]
    if silent:
        seen = f"{len(silent)} of {_BURST} requests at once failed: {silent[0].reason}"
        return [CheckFinding(status="degraded", seen=seen)]
    if not refused:
        return [ok(f"{_BURST} requests at once within {max(answers.elapsed_s):.2f} s")]
    waits = [one.retry_after_s for one in refused if isinstance(one, ProbeFailure)]
    known = [wait for wait in waits if wait is not None]
    after = f"Retry-After up to {max(known):g} s" if known else "without Retry-After"
    seen = f"{len(refused)} of {_BURST} requests at once are refused, {after}"
    return [CheckFinding(status="degraded", seen=seen)]


def _is_rate_refusal(answer: ProbeAnswer) -> bool:
    if isinstance(answer, ProbeFailure):
        return answer.kind == "rate"
    return isinstance(answer, RpcFault) and is_passing(answer)


RATE_LIMIT = Check(
    name="rate limit",
    group="limits",
    question="is a burst of one analysis answered",
    look=_check_rate_limit,
    severity="degraded",
    costs="analyses wait and are tried again; beyond analysis.wait_s their trades are pending",
    mend="add endpoints, lower analysis.concurrency and analysis.background_requests_per_hour",
)
