"""JSON-RPC client of one chain over several endpoints, with health-based selection, retries and
chain id checks.

A request goes to the endpoint with the best health; a failure (no answer, malformed, rate-limited,
contradictory) is retried on another one, with back-off once all have been tried. The error object
of a call is an answer, not a failure.
"""

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Self, TypeVar

import msgspec
import structlog

from core.errors import UpstreamError, WrongChainError
from core.evm.primitives import BlockRef
from core.rpc.backoff import SleepClock, SystemClock, backoff_s
from core.rpc.endpoint import Endpoint
from core.rpc.exchange import RpcQuestion, exchange
from core.rpc.exchange_report import ExchangeObserver
from core.rpc.failures import (
    AnswerTimeoutError,
    AnswerTooLargeError,
    MalformedAnswerError,
    QueryFailedError,
    RateLimitedError,
)
from core.rpc.headers import (
    LATEST,
    Header,
    decode_header,
    header_request,
    is_header_request,
)
from core.rpc.limits import RpcLimits
from core.rpc.log_answers import plain_answers
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from core.rpc.open_transport import open_transport
from core.rpc.transport import AnnouncingTransport, TransportLimits, name_endpoint

_FIRST_BACKOFF_S = 0.25
_MOST_BACKOFF_S = 8.0
_MOST_BARRED_S = 30.0
"""Longest wait for a `Retry-After` within one request."""
_LACK_COST_S = 0.3
"""Longest wait for an endpoint that supports all methods of a request, before one that lacks some
is used."""
_LONG_WAIT_S = 5.0
"""Demanded wait from which on it is logged."""
_LOOK_S = 3.0
"""Longest wait for the head of one endpoint, when all are looked at."""
_CHAIN_ID = RpcRequest("eth_chainId")

T = TypeVar("T")
_log = structlog.get_logger(__name__)


class RpcClient:
    """Client of a chain's nodes. Safe for any number of concurrent requests; close it when done."""

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        *,
        chain_id: int,
        settings: RpcLimits,
        clock: SleepClock | None = None,
    ) -> None:
        """Use these endpoints. Most callers call `connect` instead."""
        self.chain_id = chain_id
        self._endpoints = tuple(endpoints)
        self._settings = settings
        self._clock = clock or SystemClock()
        self._ids = itertools.count(1)

    def __repr__(self) -> str:
        return f"RpcClient({self.chain_id}, {self.services})"

    @classmethod
    async def connect(
        cls,
        urls: Sequence[str],
        chain_id: int,
        settings: RpcLimits,
        *,
        clock: SleepClock | None = None,
        observe: ExchangeObserver | None = None,
    ) -> Self:
        """Open the endpoints and check which chain they serve.

        An endpoint that does not answer now is kept, and checked when it does. `observe` is called
        with every exchange. Raises WrongChainError when every one that answers serves another chain
        and none is silent, ConfigError for an address that is not an HTTP or WebSocket URL.
        """
        limits = TransportLimits(
            timeout_s=settings.timeout_s, max_response_bytes=settings.max_response_bytes
        )
        source = f"ASSAY_RPC_{chain_id}"
        services = [name_endpoint(url, source=source) for url in urls]
        transports = [
            open_transport(url, service=service, limits=limits)
            for url, service in zip(urls, services, strict=True)
        ]
        client = cls(
            [
                Endpoint(transport, max_batch=settings.max_batch, observe=observe)
                for transport in transports
            ],
            chain_id=chain_id,
            settings=settings,
            clock=clock,
        )
        try:
            await client._check_all()
        except BaseException:
            await client.aclose()
            raise
        return client

    @property
    def services(self) -> str:
        """Return hosts and ports of all endpoints, for messages."""
        return ", ".join(endpoint.service for endpoint in self._endpoints)

    @property
    def endpoint_count(self) -> int:
        """Return the number of endpoints, usable or not."""
        return len(self._endpoints)

    @property
    def can_subscribe(self) -> bool:
        """True if an endpoint is a WebSocket."""
        return any(isinstance(one.transport, AnnouncingTransport) for one in self._endpoints)

    async def aclose(self) -> None:
        """Close all connections."""
        for endpoint in self._endpoints:
            await endpoint.transport.aclose()

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        """Return the answers in the order of the requests: headers checked, logs in plain form.

        Logs that every endpoint returns ill-formed are an error object, as of a refused query.
        Raises UpstreamError when no endpoint answers in time.
        """
        spare: list[RpcAnswer] | None = None

        def check(answers: Sequence[RpcAnswer]) -> list[RpcAnswer]:
            nonlocal spare
            for request, answer in zip(requests, answers, strict=True):
                if is_header_request(request) and not isinstance(answer, RpcFault):
                    decode_header(answer, request="block header")
            found, failure = plain_answers(requests, answers)
            if failure is not None:
                spare = found
                raise failure
            return found

        try:
            return await self.ask(requests, check)
        except UpstreamError:
            if spare is None:
                raise
            return spare

    async def fetch_head(self) -> BlockRef:
        """Return the newest block of the node. Raises UpstreamError."""
        return (await self.fetch_head_header()).ref

    async def fetch_head_header(self) -> Header:
        """Return the newest block's header. Raises UpstreamError."""

        def check(answers: Sequence[RpcAnswer]) -> Header:
            header = decode_header(answers[0], request="latest block")
            if header is None:
                raise MalformedAnswerError(service="node", reason="has no latest block")
            return header

        return await self.ask([LATEST], check)

    async def fetch_best_head(self) -> Header:
        """Return the newest header of all endpoints, and prefer those that are level with it.

        Only heads count that their endpoint also returns by number. Checks all chain ids again.
        Raises UpstreamError, WrongChainError if every endpoint serves another chain.
        """
        now_s = self._clock.now_s()
        endpoints = [one for one in self._endpoints if not one.is_excluded(now_s=now_s)]
        found = await asyncio.gather(*(self._fetch_head_of(one) for one in endpoints))
        heads = [head for head in found if head is not None]
        if not heads:
            return await self.fetch_head_header()
        best = max(heads, key=lambda head: head.number)
        for endpoint, head in zip(endpoints, found, strict=True):
            if head is not None and endpoint.note_head(head.ref, best=best.ref):
                _log.warning(
                    "endpoint is behind",
                    endpoint=endpoint.service,
                    head=head.number,
                    best=best.number,
                )
        return best

    async def ask(
        self,
        requests: Sequence[RpcRequest],
        check: Callable[[Sequence[RpcAnswer]], T],
        *,
        attempts: int | None = None,
    ) -> T:
        """Send `requests` until `check` accepts the answers, and return its result.

        `check` raises an UpstreamError for answers that cannot be true: that lowers the
        endpoint's health, and all requests are sent to another one. Its other exceptions pass
        through at once. `attempts` None: as configured, but at least one for each endpoint. Raises
        UpstreamError (of the last failure's class), naming hosts only.
        """
        if not requests:
            return check([])
        question = RpcQuestion(requests)
        spare: list[RpcAnswer] | None = None
        failures: dict[str, UpstreamError] = {}
        tried: Counter[Endpoint] = Counter()
        for _ in range(attempts or max(self._settings.attempts, len(self._endpoints))):
            endpoint, pause_s = self._choose(tried, failures, question)
            if pause_s > 0:
                await self._clock.sleep(pause_s)
            tried[endpoint] += 1
            try:
                await self._attempt(endpoint, question)
                if not self._is_known_elsewhere(endpoint, question, tried):
                    return check(question.answers())
                spare = question.answers()
                question.forget()
            except UpstreamError as error:
                failures.pop(endpoint.service, None)
                failures[endpoint.service] = error
                self._penalise(endpoint, error)
                question.forget_unless_partial(error)
        if spare is not None:
            return check(spare)
        if question.settle_unserved_queries():
            return check(question.answers())
        raise _sum_up(failures)

    async def announced_heads(self) -> AsyncIterator[Header]:
        """Yield new heads as a WebSocket endpoint announces them, until it stops.

        Raises UpstreamError when there is no WebSocket endpoint or the subscription breaks.
        """
        candidates = [
            one
            for one in sorted(self._endpoints, key=lambda one: one.health.score_s)
            if isinstance(one.transport, AnnouncingTransport)
            and not one.is_excluded(now_s=self._clock.now_s())
        ]
        if not candidates:
            raise UpstreamError(service=self.services, reason="no WebSocket endpoint to subscribe")
        endpoint = candidates[0]
        transport = endpoint.transport
        if not isinstance(transport, AnnouncingTransport):
            raise TypeError(transport)
        try:
            await self._verify(endpoint)
            async for raw in transport.announcements("newHeads", first_id=next(self._ids)):
                header = decode_header(raw, request="newHeads")
                if header is not None:
                    yield header
        except UpstreamError as error:
            self._penalise(endpoint, error)
            raise

    # --- one endpoint -------------------------------------------------------------------------

    async def _fetch_head_of(self, endpoint: Endpoint) -> Header | None:
        """Return an endpoint's head, confirmed by number. None: there is no answer in time."""
        if endpoint.wait_s(now_s=self._clock.now_s()) > 0:
            return None
        try:
            async with asyncio.timeout(_LOOK_S):
                await self._verify(endpoint)
                head = await self._fetch_block_of(endpoint, LATEST)
                again = head and await self._fetch_block_of(endpoint, header_request(head.number))
        except TimeoutError:
            return None
        except UpstreamError as error:
            self._penalise(endpoint, error)
            return None
        return head if head is not None and head == again else None

    async def _fetch_block_of(self, endpoint: Endpoint, request: RpcRequest) -> Header | None:
        question = RpcQuestion([request])
        await self._attempt(endpoint, question)
        return decode_header(question.answers()[0], request="head")

    def _choose(
        self, tried: Counter[Endpoint], failures: dict[str, UpstreamError], question: RpcQuestion
    ) -> tuple[Endpoint, float]:
        """Return the endpoint that can be used soonest, the healthiest first, and the seconds to
        wait for it.

        Lacking a method of the request counts like a wait of `_LACK_COST_S`.
        """
        now_s = self._clock.now_s()
        candidates = [one for one in self._endpoints if not one.is_excluded(now_s=now_s)]
        if not candidates:
            raise _sum_up(failures or self._wrong_everywhere())
        pauses = {one: _pause_s(one, tries=tried[one], now_s=now_s) for one in candidates}
        best = min(
            candidates,
            key=lambda one: (
                pauses[one] + _LACK_COST_S * one.lacks(question.methods, now_s=now_s),
                one.is_behind,
                one.is_cooling(now_s=now_s),
                one.health.score_s,
            ),
        )
        return best, pauses[best]

    def _is_known_elsewhere(
        self, endpoint: Endpoint, question: RpcQuestion, tried: Counter[Endpoint]
    ) -> bool:
        """True if the endpoint lacks a method that an untried endpoint may support."""
        now_s = self._clock.now_s()
        unknown = question.unknown_methods()
        for method in unknown:
            endpoint.note_lack(method, now_s=now_s)
        return bool(unknown) and any(
            not tried[other]
            and not other.is_excluded(now_s=now_s)
            and not other.lacks(question.methods, now_s=now_s)
            for other in self._endpoints
        )

    async def _attempt(self, endpoint: Endpoint, question: RpcQuestion) -> None:
        if not endpoint.is_verified:
            await self._verify(endpoint)
        started_s = self._clock.now_s()
        await exchange(endpoint, question, self._ids)
        endpoint.health.note_success(self._clock.now_s() - started_s)

    async def _verify(self, endpoint: Endpoint) -> None:
        question = RpcQuestion([_CHAIN_ID])
        await exchange(endpoint, question, self._ids)
        answer = question.answers()[0]
        if isinstance(answer, RpcFault):
            raise MalformedAnswerError(
                service=endpoint.service, reason=f"eth_chainId: {answer.message}"
            )
        try:
            got = int(msgspec.json.decode(answer, type=str), 16)
        except (msgspec.MsgspecError, ValueError):
            reason = "eth_chainId: not a quantity"
            raise MalformedAnswerError(service=endpoint.service, reason=reason) from None
        if got != self.chain_id:
            raise WrongChainError(service=endpoint.service, expected=self.chain_id, got=got)
        endpoint.mark_right()

    def _penalise(self, endpoint: Endpoint, error: UpstreamError) -> None:
        now_s = self._clock.now_s()
        waited_s = endpoint.wait_s(now_s=now_s)
        endpoint.health.note_failure(error, now_s=now_s)
        wait_s = endpoint.wait_s(now_s=now_s)
        if wait_s >= _LONG_WAIT_S > waited_s:
            _log.warning("endpoint demands a wait", endpoint=endpoint.service, wait_s=wait_s)
        if isinstance(error, WrongChainError):
            endpoint.mark_wrong(error.got, now_s=now_s)
            _log.error("endpoint excluded", endpoint=endpoint.service, reason=error.reason)
        elif not isinstance(error, RateLimitedError):
            # Another node may answer at the address next time: check its chain id first.
            endpoint.is_verified = False

    async def _check_all(self) -> None:
        results = await asyncio.gather(
            *(self._verify(endpoint) for endpoint in self._endpoints), return_exceptions=True
        )
        wrong: list[WrongChainError] = []
        for endpoint, result in zip(self._endpoints, results, strict=True):
            if isinstance(result, UpstreamError):
                self._penalise(endpoint, result)
            elif isinstance(result, BaseException):
                raise result
            if isinstance(result, WrongChainError):
                wrong.append(result)
        if wrong and len(wrong) == len(self._endpoints):
            raise _sum_up({error.service: error for error in wrong})

    def _wrong_everywhere(self) -> dict[str, UpstreamError]:
        return {
            one.service: WrongChainError(
                service=one.service, expected=self.chain_id, got=one.wrong_chain_id
            )
            for one in self._endpoints
        }


def _pause_s(endpoint: Endpoint, *, tries: int, now_s: float) -> float:
    again_s = backoff_s(tries, first_s=_FIRST_BACKOFF_S, most_s=_MOST_BACKOFF_S) if tries else 0.0
    return max(again_s, min(endpoint.wait_s(now_s=now_s), _MOST_BARRED_S))


def _sum_up(failures: Mapping[str, UpstreamError]) -> UpstreamError:
    """Return one error for all endpoints, of the class of the last, reasons without repetition."""
    wrong = [error for error in failures.values() if isinstance(error, WrongChainError)]
    service = ", ".join(failures)
    if len(wrong) == len(failures):
        return WrongChainError(service=service, expected=wrong[-1].expected, got=wrong[-1].got)
    reasons = {error.reason: None for error in failures.values()}
    last = [error for error in failures.values() if not isinstance(error, WrongChainError)][-1]
    for kind in (AnswerTimeoutError, AnswerTooLargeError, QueryFailedError, RateLimitedError):
        if isinstance(last, kind):
            return kind(service=service, reason="; ".join(reasons))
    return UpstreamError(service=service, reason="; ".join(reasons))
