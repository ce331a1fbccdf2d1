"""The type of a check: a generator that yields questions to a node and evaluates the answers.

No I/O: the caller sends the questions and returns the answers, so a check runs against any endpoint
and against recorded answers.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Literal, TypeAlias, TypeGuard, TypeVar

import msgspec

from config.facts.chain import Chain
from config.settings import IndexerSettings
from core.errors import AssayError
from core.rpc.headers import Header
from core.rpc.limits import RpcLimits
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

CheckStatus = Literal["ok", "failed", "degraded", "unknown", "skipped"]
"""ok: as needed. failed: answers are wrong or missing. degraded: a slower or less certain way is
used instead. unknown: the answers do not decide it. skipped: not run."""

CheckGroup = Literal["node", "state", "simulation", "logs", "limits", "facts", "comparison"]

FailureKind = Literal["time", "rate", "batch", "size", "status", "answer", "connection"]
"""No complete answer in time; rate limited; batch or message size refused; an HTTP error status;
not JSON-RPC; no connection."""


class ProbeFailure(msgspec.Struct, frozen=True, kw_only=True):
    """A request that got neither a result nor an error object."""

    kind: FailureKind
    reason: str
    retry_after_s: float | None = None
    """Retry-After of the node. None: it sent none."""


ProbeAnswer = RpcAnswer | ProbeFailure


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """Requests of one step of a check."""

    requests: tuple[RpcRequest, ...]
    sending: Literal["packed", "one message", "at once"] = "packed"
    """packed: in batches that the endpoint accepts, retried after a rate limit. one message: a
    single batch, sent once. at once: single requests, all concurrently, sent once."""
    after_s: float = 0.0
    """Seconds to wait before sending."""


class HeadsQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Wait for a head announced by the endpoint; the answer is a header or a ProbeFailure."""

    wait_s: float


class ProbeAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """Answers in the order of the requests."""

    all: tuple[ProbeAnswer, ...]
    elapsed_s: tuple[float, ...]
    """Seconds of each message, in the order of their ends."""

    def __getitem__(self, at: int) -> ProbeAnswer:
        return self.all[at]


class CheckFinding(msgspec.Struct, frozen=True, kw_only=True):
    """Finding of a check about one subject."""

    status: CheckStatus
    seen: str
    subject: str = ""
    """Exchange, platform or contract. Empty: the endpoint itself."""
    costs: str | None = None
    """Consequence for reports. None: that of the check."""
    mend: str | None = None
    """Remedy. None: that of the check."""


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """Subject of a check."""

    chain: Chain
    head: Header
    """Newest block of the endpoint, read before the check."""
    rpc: RpcLimits
    indexer: IndexerSettings
    now_s: Callable[[], float]
    """This machine's Unix time."""
    can_announce: bool = False
    """True for a WebSocket endpoint."""


T = TypeVar("T")
Asking: TypeAlias = Generator[Question | HeadsQuestion, ProbeAnswers, T]
"""A part of a check: yields questions and returns a value."""

Steps: TypeAlias = Asking[Sequence[CheckFinding]]
"""A whole check: yields questions and returns findings."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check."""

    name: str
    group: CheckGroup
    question: str
    """Question of the check, in a few words."""
    look: Callable[[Subject], Steps]
    severity: Literal["failed", "degraded"] = "failed"
    """Status of a missing ability."""
    costs: str
    """Consequence of a failure for reports."""
    mend: str


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the report."""

    check: str
    group: CheckGroup
    subject: str
    status: CheckStatus
    seen: str
    costs: str
    """Empty if the status is ok."""
    mend: str
    """Empty if the status is ok."""


class NotHeldError(AssayError):
    """A requirement of a check does not hold; the message describes the observation."""


def ask(*requests: RpcRequest) -> Question:
    """Build a question whose requests may be sent in any way."""
    return Question(requests=requests)


def ok(seen: str, *, subject: str = "") -> CheckFinding:
    """Build a finding with the status ok."""
    return CheckFinding(status="ok", seen=seen, subject=subject)


def is_result(answer: ProbeAnswer) -> TypeGuard[msgspec.Raw]:
    """True if the answer is neither an error object nor a failure."""
    return not isinstance(answer, RpcFault | ProbeFailure)


def describe_answer(answer: ProbeAnswer) -> str:
    """Describe an error or a failure in at most 160 characters; otherwise "a result"."""
    if isinstance(answer, ProbeFailure):
        text = answer.reason
    elif isinstance(answer, RpcFault):
        text = f"{answer.message} (code {answer.code})"
    else:
        return "a result"
    return shorten(text)


def shorten(text: str) -> str:
    """Truncate text of a node, which may be anything, to 160 characters."""
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 3] + "..."


_MOST_CHARACTERS = 160


def result_of(answer: ProbeAnswer, *, what: str) -> msgspec.Raw:
    """Return the result. Raises NotHeldError for an error or failure."""
    if isinstance(answer, RpcFault | ProbeFailure):
        message = f"{what}: {describe_answer(answer)}"
        raise NotHeldError(message)
    return answer


def hex_of(answer: ProbeAnswer, *, what: str) -> bytes:
    """Decode a result that is 0x hex. Raises NotHeldError."""
    raw = result_of(answer, what=what)
    try:
        return bytes.fromhex(msgspec.json.decode(raw, type=str).removeprefix("0x"))
    except ValueError:
        message = f"{what}: the result is no hex: {bytes(raw)[:60].decode(errors='replace')}"
        raise NotHeldError(message) from None


def word_of(answer: ProbeAnswer) -> int | None:
    """Return the first word of a call's result. None: it failed, or returned less."""
    if isinstance(answer, RpcFault | ProbeFailure):
        return None
    try:
        data = bytes.fromhex(msgspec.json.decode(answer, type=str).removeprefix("0x"))
    except ValueError:
        return None
    return int.from_bytes(data[:_WORD]) if len(data) >= _WORD else None


_WORD = 32


def quantity_of(answer: ProbeAnswer, *, what: str) -> int:
    """Decode a result that is a quantity. Raises NotHeldError."""
    raw = result_of(answer, what=what)
    try:
        return int(msgspec.json.decode(raw, type=str), 16)
    except ValueError:
        message = f"{what}: the result is no quantity"
        raise NotHeldError(message) from None
