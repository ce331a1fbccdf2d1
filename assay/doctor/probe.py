"""Sends the questions of checks to one endpoint, within a budget. The package's only I/O.

Unlike the client of the product it retries little and corrects nothing, as checks look for the
faults of an endpoint.
"""

import asyncio
import itertools
import time
from collections.abc import Sequence
from contextlib import aclosing

from assay.doctor.call_budget import CallBudget
from assay.doctor.check import (
    FailureKind,
    HeadsQuestion,
    ProbeAnswer,
    ProbeAnswers,
    ProbeFailure,
    Question,
)
from core.errors import UpstreamError
from core.rpc.failures import (
    AnswerTimeoutError,
    AnswerTooLargeError,
    BatchRefusedError,
    HttpStatusError,
    MalformedAnswerError,
    RateLimitedError,
)
from core.rpc.messages import RpcFault, RpcRequest
from core.rpc.transport import AnnouncingTransport, Transport
from core.rpc.wire import decode_answers, encode_requests, is_passing

_AT_ONCE = 16
_PACK = 25
"""Requests in one message, unless the endpoint accepts fewer: providers' limits begin at 30."""
_RATE_TRIES = 4
_FIRST_PAUSE_S = 0.5
_MOST_PAUSE_S = 5.0
_SILENCES = 3
"""Unanswered messages in a row after which the endpoint counts as silent."""
_STATUS_TOO_LARGE = 413

_KINDS: tuple[tuple[type[UpstreamError], FailureKind], ...] = (
    (AnswerTimeoutError, "time"),
    (AnswerTooLargeError, "size"),
    (RateLimitedError, "rate"),
    (BatchRefusedError, "batch"),
    (HttpStatusError, "status"),
    (MalformedAnswerError, "answer"),
)


class Probe:
    """One endpoint under examination."""

    def __init__(self, transport: Transport, budget: CallBudget, *, timeout_s: float) -> None:
        """`timeout_s`: limit for one message and its answer."""
        self._transport = transport
        self._budget = budget
        self._timeout_s = timeout_s
        self._ids = itertools.count(1)
        self._pack = _PACK
        self._silences = 0
        self.service = transport.service
        self.rate_limits = 0
        """Messages refused by a rate limit, outside of checks that provoke it."""

    @property
    def calls(self) -> int:
        """Return the number of requests sent."""
        return self._budget.calls

    @property
    def can_announce(self) -> bool:
        """True if the endpoint is a WebSocket."""
        return isinstance(self._transport, AnnouncingTransport)

    @property
    def is_silent(self) -> bool:
        """True if it has not answered several times in a row."""
        return self._silences >= _SILENCES

    async def ask(self, question: Question | HeadsQuestion) -> ProbeAnswers:
        """Send a question and return the answers. Raises BudgetSpentError."""
        if isinstance(question, HeadsQuestion):
            return await self._await_head(question.wait_s)
        if question.after_s:
            await asyncio.sleep(min(question.after_s, max(0.0, self._budget.left_s)))
        match question.sending:
            case "one message":
                return _joined([await self._send(question.requests)])
            case "at once":
                gate = asyncio.Semaphore(_AT_ONCE)
                sent = (self._send_gated(gate, request) for request in question.requests)
                return _joined(await asyncio.gather(*sent))
            case "packed":
                return await self._send_packed(question.requests)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._transport.aclose()

    async def _send_packed(self, requests: Sequence[RpcRequest]) -> ProbeAnswers:
        parts: list[ProbeAnswers] = []
        at = 0
        while at < len(requests):
            part = requests[at : at + self._pack]
            found = await self._send_patiently(part)
            if len(part) > 1 and _is_about_batch(found[0]):
                self._pack = 1
                continue
            parts.append(found)
            at += len(part)
        return _joined(parts)

    async def _send_patiently(self, requests: Sequence[RpcRequest]) -> ProbeAnswers:
        """Send again after a rate limit."""
        found = await self._send(requests)
        for tried in range(1, _RATE_TRIES):
            limits = [one for one in found.all if _is_rate_limit(one)]
            if not limits:
                break
            self.rate_limits += 1
            first = limits[0]
            demanded_s = first.retry_after_s if isinstance(first, ProbeFailure) else None
            pause_s = _FIRST_PAUSE_S * 2**tried if demanded_s is None else demanded_s
            await asyncio.sleep(min(pause_s, _MOST_PAUSE_S, max(0.0, self._budget.left_s)))
            found = await self._send(requests)
        return found

    async def _send_gated(self, gate: asyncio.Semaphore, request: RpcRequest) -> ProbeAnswers:
        async with gate:
            return await self._send([request])

    async def _send(self, requests: Sequence[RpcRequest]) -> ProbeAnswers:
        """Send one message, once."""
        self._budget.spend(len(requests))
        first_id = next(self._ids)
        for _ in requests[1:]:
            next(self._ids)
        body = encode_requests(requests, first_id=first_id)
        started_s = time.monotonic()
        found: tuple[ProbeAnswer, ...]
        try:
            async with asyncio.timeout(min(self._timeout_s, self._budget.left_s)):
                message = await self._transport.exchange(
                    body, ids=range(first_id, first_id + len(requests))
                )
            found = tuple(
                decode_answers(
                    message, first_id=first_id, count=len(requests), service=self.service
                )
            )
            self._silences = 0
        except (UpstreamError, TimeoutError) as error:
            self._budget.check_time()  # an interruption by the deadline is no failure
            failure = _failure(error, waited_s=time.monotonic() - started_s)
            is_silence = failure.kind in ("time", "connection")
            self._silences = self._silences + 1 if is_silence else 0
            found = (failure,) * len(requests)
        return ProbeAnswers(all=found, elapsed_s=(time.monotonic() - started_s,))

    async def _await_head(self, wait_s: float) -> ProbeAnswers:
        self._budget.spend(1)
        transport, started_s = self._transport, time.monotonic()
        found: ProbeAnswer = ProbeFailure(kind="connection", reason="is no WebSocket")
        if isinstance(transport, AnnouncingTransport):
            try:
                async with asyncio.timeout(min(wait_s, self._budget.left_s)):
                    feed = transport.announcements("newHeads", first_id=next(self._ids))
                    async with aclosing(feed) as heads:  # type: ignore[type-var] # it is a generator
                        found = await anext(heads)
            except (UpstreamError, TimeoutError, StopAsyncIteration) as error:
                found = _failure(error, waited_s=time.monotonic() - started_s)
        return ProbeAnswers(all=(found,), elapsed_s=(time.monotonic() - started_s,))


def _joined(parts: Sequence[ProbeAnswers]) -> ProbeAnswers:
    return ProbeAnswers(
        all=tuple(answer for part in parts for answer in part.all),
        elapsed_s=tuple(seconds for part in parts for seconds in part.elapsed_s),
    )


def _failure(error: Exception, *, waited_s: float) -> ProbeFailure:
    if not isinstance(error, UpstreamError):
        return ProbeFailure(kind="time", reason=f"no answer within {waited_s:.1f} s")
    if isinstance(error, HttpStatusError) and error.status == _STATUS_TOO_LARGE:
        return ProbeFailure(kind="size", reason=error.reason)
    kind: FailureKind = next(
        (kind for kind_of, kind in _KINDS if isinstance(error, kind_of)), "connection"
    )
    retry_after_s = error.retry_after_s if isinstance(error, RateLimitedError) else None
    return ProbeFailure(kind=kind, reason=error.reason, retry_after_s=retry_after_s)


def _is_about_batch(answer: ProbeAnswer) -> bool:
    return isinstance(answer, ProbeFailure) and answer.kind in ("batch", "status", "size", "answer")


def _is_rate_limit(answer: ProbeAnswer) -> bool:
    if isinstance(answer, RpcFault):
        return is_passing(answer)
    return isinstance(answer, ProbeFailure) and answer.kind == "rate"
