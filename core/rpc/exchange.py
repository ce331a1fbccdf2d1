"""Exchange of a set of requests with one endpoint, in batches that the endpoint accepts."""

import asyncio
import time
from collections.abc import Iterator, Sequence

from core.errors import UpstreamError
from core.rpc.endpoint import Endpoint
from core.rpc.exchange_report import ExchangeReport, RequestResult, result_of
from core.rpc.failures import (
    AnswerTooLargeError,
    BatchRefusedError,
    HttpStatusError,
    RateLimitedError,
)
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from core.rpc.ranges import is_unserved_query
from core.rpc.request_meter import note_requests
from core.rpc.wire import decode_answers, encode_requests, is_passing

_METHOD_NOT_FOUND = -32601
_LOGS = "eth_getLogs"
_STATUSES_OF_REFUSED_BATCHES = frozenset({400, 405, 413, 415, 422, 501})


class RpcQuestion:
    """Requests and the answers received so far."""

    def __init__(self, requests: Sequence[RpcRequest]) -> None:
        self.requests = tuple(requests)
        self._methods = frozenset(request.method for request in self.requests)
        self._answers: dict[int, RpcAnswer] = {}
        self._limited: dict[int, RpcFault] = {}
        """Rate limits, which are no answers, by request."""

    def open_indices(self) -> list[int]:
        """Return the indices of requests that still lack an answer."""
        return [index for index in range(len(self.requests)) if index not in self._answers]

    def note(self, index: int, answer: RpcAnswer) -> None:
        """Store one answer."""
        self._answers[index] = answer

    def answers(self) -> list[RpcAnswer]:
        """Return all answers in the order of the requests. Raises KeyError while one is missing."""
        return [self._answers[index] for index in range(len(self.requests))]

    @property
    def methods(self) -> frozenset[str]:
        """Return the methods of all requests."""
        return self._methods

    def unknown_methods(self) -> set[str]:
        """Return the methods that the endpoint does not support (JSON-RPC 2.0, section 5.1)."""
        return {
            self.requests[index].method
            for index, answer in self._answers.items()
            if isinstance(answer, RpcFault) and answer.code == _METHOD_NOT_FOUND
        }

    def note_limit(self, index: int, fault: RpcFault) -> None:
        """Store the rate limit that one request met."""
        self._limited[index] = fault

    def settle_unserved_queries(self) -> bool:
        """Answer the open queries for logs with the limits they met, once all tries are spent.

        False, and nothing is answered: another request is open, or a limit is a plain one.
        """
        met = {index: self._limited.get(index) for index in self.open_indices()}
        if not all(
            fault is not None and self.requests[index].method == _LOGS and is_unserved_query(fault)
            for index, fault in met.items()
        ):
            return False
        self._answers.update({index: fault for index, fault in met.items() if fault is not None})
        return True

    def forget(self) -> None:
        """Drop all answers before the next endpoint is tried."""
        self._answers.clear()
        self._limited.clear()

    def forget_unless_partial(self, error: UpstreamError) -> None:
        """Drop all answers, unless only some are missing because of a rate limit."""
        if not isinstance(error, RateLimitedError):
            self.forget()


async def exchange(endpoint: Endpoint, question: RpcQuestion, ids: Iterator[int]) -> None:
    """Send the open requests and store their answers.

    An endpoint that refuses a batch gets smaller ones, down to single calls, from then on. An
    answer that is too long is requested in smaller parts, this time only. Raises UpstreamError;
    answers received before it stay in the question.
    """
    size = endpoint.max_batch
    while open_indices := question.open_indices():
        note_requests(question.requests[index].method for index in open_indices)
        parts = [open_indices[at : at + size] for at in range(0, len(open_indices), size)]
        failure = await _send_parts(endpoint, question, parts, ids)
        if failure is None:
            continue
        largest = max(len(part) for part in parts)
        if largest == 1 or not _is_about_size(failure):
            raise failure
        size = max(1, largest // 2)
        if not isinstance(failure, AnswerTooLargeError):
            endpoint.max_batch = min(endpoint.max_batch, size)


async def _send_parts(
    endpoint: Endpoint, question: RpcQuestion, parts: Sequence[Sequence[int]], ids: Iterator[int]
) -> UpstreamError | None:
    outcomes = await asyncio.gather(
        *(_send(endpoint, question, part, ids) for part in parts), return_exceptions=True
    )
    failures: list[UpstreamError] = []
    for outcome in outcomes:
        if isinstance(outcome, UpstreamError):
            failures.append(outcome)
        elif outcome is not None:
            raise outcome
    # Smaller parts help only if every failure is about size; any other ends the attempt.
    failures.sort(key=_is_about_size)
    return failures[0] if failures else None


def _is_about_size(failure: UpstreamError) -> bool:
    if isinstance(failure, HttpStatusError):
        return failure.status in _STATUSES_OF_REFUSED_BATCHES
    return isinstance(failure, BatchRefusedError | AnswerTooLargeError)


async def _send(
    endpoint: Endpoint, question: RpcQuestion, part: Sequence[int], ids: Iterator[int]
) -> None:
    first_id = 0
    for offset, _ in enumerate(part):
        number = next(ids)
        first_id = first_id or number - offset
    numbers = range(first_id, first_id + len(part))
    requests = [question.requests[index] for index in part]
    body = encode_requests(requests, first_id=first_id)
    async with endpoint.gate:
        started_s = time.perf_counter()
        try:
            message = await endpoint.transport.exchange(body, ids=numbers)
            answers = decode_answers(
                message, first_id=first_id, count=len(part), service=endpoint.service
            )
        except UpstreamError as error:
            _report(endpoint, requests, [result_of(error)] * len(part), started_s, (len(body), 0))
            raise
    results = [_result(answer) for answer in answers]
    _report(endpoint, requests, results, started_s, (len(body), len(message)))
    passing: RpcFault | None = None
    for index, answer in zip(part, answers, strict=True):
        if isinstance(answer, RpcFault) and is_passing(answer):
            passing = answer
            question.note_limit(index, answer)
        else:
            question.note(index, answer)
    if passing is not None:
        raise RateLimitedError(service=endpoint.service, reason=passing.message)


def _result(answer: RpcAnswer) -> RequestResult:
    if not isinstance(answer, RpcFault):
        return "ok"
    return "rate_limited" if is_passing(answer) else "error"


def _report(
    endpoint: Endpoint,
    requests: Sequence[RpcRequest],
    results: Sequence[RequestResult],
    started_s: float,
    sizes: tuple[int, int],
) -> None:
    """Call the observer. `sizes`: bytes sent and received."""
    if endpoint.observe is None:
        return
    methods = (request.method for request in requests)
    endpoint.observe(
        ExchangeReport(
            service=endpoint.service,
            results=tuple(zip(methods, results, strict=True)),
            seconds=time.perf_counter() - started_s,
            sent_bytes=sizes[0],
            received_bytes=sizes[1],
        )
    )
