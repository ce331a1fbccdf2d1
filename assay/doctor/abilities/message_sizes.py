"""How long a request and an answer may be."""

from assay.doctor.check import (
    Check,
    CheckFinding,
    ProbeAnswer,
    ProbeFailure,
    Question,
    Steps,
    Subject,
    ok,
)
from assay.doctor.contract_reads import bytes_in
from assay.doctor.tracers import call_with, drawn_address, pinned
from core.rpc.messages import RpcFault

_REQUEST_BYTES = 256 * 1024
"""Of call data, twice as much in hex: about what the largest pack of reads takes."""
_ANSWER_BYTES = 512 * 1024
_RETURN_MANY = f"0x62{_ANSWER_BYTES:06x}6000f3"
"""Code that returns so many zeros."""


def _look(subject: Subject) -> Steps:
    block, account = pinned(subject.head), drawn_address(subject.head, "talker")
    requests = {
        "request": call_with(None, block, to=account, data="0x" + "00" * _REQUEST_BYTES),
        "answer": call_with({account: {"code": _RETURN_MANY}}, block, to=account, data="0x"),
    }
    findings = []
    for name, request in requests.items():
        answers = yield Question(requests=(request,), sending="one message")
        size = _REQUEST_BYTES if name == "request" else _ANSWER_BYTES
        refusal = _size_refusal(answers[0])
        if refusal is not None:
            seen = f"no {name} of {2 * size // 1024} KB: {refusal}"
            findings.append(CheckFinding(status="degraded", seen=seen))
        elif name == "answer" and len(bytes_in(answers[0])) != _ANSWER_BYTES:
            seen = f"no {name} of {2 * size // 1024} KB could be provoked"
            findings.append(CheckFinding(status="unknown", seen=seen, costs=""))
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
