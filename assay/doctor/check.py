"""The type of a check: a generator that yields questions to a node and judges the answers. No I/O.

Whoever runs a check sends its questions and hands back the answers, so a check can be run against
any endpoint, and against written-down answers.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Literal, TypeAlias, TypeGuard, TypeVar

import msgspec

from config.chains import Chain
from config.settings_model import IndexerSettings
from core.errors import AssayError
from core.rpc.headers import Header
from core.rpc.limits import RpcLimits
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

CheckStatus = Literal["ok", "failed", "degraded", "unknown", "skipped"]
"""ok: as needed. failed: answers are wrong or missing. degraded: a slower or less certain way is
used instead. unknown: the node's answers do not tell. skipped: not asked."""

CheckGroup = Literal["node", "state", "simulation", "logs", "limits", "facts", "comparison"]

FailureKind = Literal["time", "rate", "batch", "size", "status", "answer", "connection"]
"""No complete answer in time; asked too often; the batch, or the size of the message, is refused;
an HTTP error status; not JSON-RPC; no connection."""


class ProbeFailure(msgspec.Struct, frozen=True, kw_only=True):
    """A request that got neither a result nor an error object."""

    kind: FailureKind
    reason: str
    retry_after_s: float | None = None
    """As the node demanded. None: it did not say."""


ProbeAnswer = RpcAnswer | ProbeFailure


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """Requests whose answers a check waits for."""

    requests: tuple[RpcRequest, ...]
    sending: Literal["packed", "one message", "at once"] = "packed"
    """packed: in batches that the endpoint takes, again after a rate limit. one message: exactly
    that, once. at once: each by itself, all concurrently, once."""
    after_s: float = 0.0
    """Seconds to wait before they are sent."""


class HeadsQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Wait for a head that the endpoint announces by itself; the answer is a header or a
    ProbeFailure."""

    wait_s: float


class ProbeAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """Answers in the order of the requests."""

    all: tuple[ProbeAnswer, ...]
    elapsed_s: tuple[float, ...]
    """Seconds of each message, in the order they ended."""

    def __getitem__(self, at: int) -> ProbeAnswer:
        return self.all[at]


class CheckFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found about one subject."""

    status: CheckStatus
    seen: str
    subject: str = ""
    """Exchange, platform or contract. Empty: the endpoint itself."""
    costs: str | None = None
    """What it costs in answers. None: as the check says in general."""
    mend: str | None = None
    """None: as the check says in general."""


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What a check is about."""

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
"""A part of a check that asks questions and returns what it learnt."""

Steps: TypeAlias = Asking[Sequence[CheckFinding]]
"""The questions of a check, and in the end its findings."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check."""

    name: str
    group: CheckGroup
    question: str
    """What it asks, in a few words."""
    look: Callable[[Subject], Steps]
    severity: Literal["failed", "degraded"] = "failed"
    """The status where what it asks for is missing."""
    costs: str
    """What a failure costs in answers."""
    mend: str


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the report."""

    check: str
    group: CheckGroup
    subject: str
    status: CheckStatus
    seen: str
    costs: str
    """Empty where the status is ok."""
    mend: str
    """Empty where the status is ok."""


class NotHeldError(AssayError):
    """What a check asks for does not hold: the message says what was seen instead."""


def ask(*requests: RpcRequest) -> Question:
    """Return the requests as a question whose answers are wanted, however they are sent."""
    return Question(requests=requests)


def ok(seen: str, *, subject: str = "") -> CheckFinding:
    """Return a finding that all is as needed."""
    return CheckFinding(status="ok", seen=seen, subject=subject)


def is_result(answer: ProbeAnswer) -> TypeGuard[msgspec.Raw]:
    """True if the answer is neither an error object nor a failure."""
    return not isinstance(answer, RpcFault | ProbeFailure)


def describe_answer(answer: ProbeAnswer) -> str:
    """Return an error or a failure as a line of at most 160 characters; "a result" otherwise."""
    if isinstance(answer, ProbeFailure):
        text = answer.reason
    elif isinstance(answer, RpcFault):
        text = f"{answer.message} (code {answer.code})"
    else:
        return "a result"
    return shorten(text)


def shorten(text: str) -> str:
    """Return at most 160 characters of what a node said, which may be anything."""
    return text if len(text) <= _MOST_SAID else text[: _MOST_SAID - 3] + "..."


_MOST_SAID = 160


def result_of(answer: ProbeAnswer, *, asked: str) -> msgspec.Raw:
    """Return the result. Raises NotHeldError where there is none."""
    if isinstance(answer, RpcFault | ProbeFailure):
        message = f"{asked}: {describe_answer(answer)}"
        raise NotHeldError(message)
    return answer


def hex_of(answer: ProbeAnswer, *, asked: str) -> bytes:
    """Return the bytes of a result that is 0x hex. Raises NotHeldError."""
    raw = result_of(answer, asked=asked)
    try:
        return bytes.fromhex(msgspec.json.decode(raw, type=str).removeprefix("0x"))
    except ValueError:
        message = f"{asked}: the result is no hex: {bytes(raw)[:60].decode(errors='replace')}"
        raise NotHeldError(message) from None


def word_of(answer: ProbeAnswer) -> int | None:
    """Return the first word that a call returned. None: it failed, or returned less."""
    if isinstance(answer, RpcFault | ProbeFailure):
        return None
    try:
        data = bytes.fromhex(msgspec.json.decode(answer, type=str).removeprefix("0x"))
    except ValueError:
        return None
    return int.from_bytes(data[:_WORD]) if len(data) >= _WORD else None


_WORD = 32


def quantity_of(answer: ProbeAnswer, *, asked: str) -> int:
    """Return a result that is a quantity. Raises NotHeldError."""
    raw = result_of(answer, asked=asked)
    try:
        return int(msgspec.json.decode(raw, type=str), 16)
    except ValueError:
        message = f"{asked}: the result is no quantity"
        raise NotHeldError(message) from None
