"""How long a request and an answer may be."""

from core.rpc.messages import RpcFault
from doctor.check import (
    Check,
    CheckFinding,
    ProbeAnswer,
    ProbeFailure,
    Question,
    Steps,
    Subject,
    ok,
)
from doctor.tracers import call_with, pinned

_REQUEST_BYTES = 256 * 1024
"""Of call data, twice as much in hex: about what the largest pack of reads takes."""
_ANSWER_BYTES = 512 * 1024
_RETURN_MANY = f"0x62{_ANSWER_BYTES:06x}6000f3"
"""Creation code that returns so many zeros."""


def _look(subject: Subject) -> Steps:
    block = pinned(subject.head)
    anchor = subject.chain.oracle.native_usd
    long_request = call_with(None, block, to=anchor, data="0x" + "00" * _REQUEST_BYTES)
    long_answer = call_with(None, block, to=None, data=_RETURN_MANY)
    findings = []
    for name, request in (("request", long_request), ("answer", long_answer)):
        answers = yield Question(requests=(request,), sending="one message")
        size = _REQUEST_BYTES if name == "request" else _ANSWER_BYTES
        refusal = _size_refusal(answers[0])
        if refusal is not None:
            seen = f"a {name} of {2 * size // 1024} KB is refused: {refusal}"
            findings.append(CheckFinding(status="degraded", seen=seen))
    return findings or [
        ok(f"a request of {_REQUEST_BYTES // 512} KB, an answer of {_ANSWER_BYTES // 512} KB")
    ]


def _size_refusal(answer: ProbeAnswer) -> str | None:
    """Return what refuses the size. None: the call was run, whatever came of it."""
    if isinstance(answer, ProbeFailure):
        return answer.reason
    if isinstance(answer, RpcFault) and any(word in answer.message.lower() for word in _WORDS):
        return answer.message
    return None


_WORDS = ("too large", "too long", "too big", "exceeds the limit", "payload", "size limit")

CHECK = Check(
    name="message sizes",
    group="limits",
    question="how long may a request and an answer be",
    look=_look,
    severity="degraded",
    costs="packs of reads for tokens with very many pools go in parts, which takes longer",
    mend="raise the gateway's limit on bodies (nginx: client_max_body_size) to 2 MB",
)
