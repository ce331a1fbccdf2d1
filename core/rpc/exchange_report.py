"""Outcome of one message to an endpoint, for counters."""

from collections.abc import Callable
from typing import Literal

import msgspec

from core.errors import UpstreamError
from core.rpc.failures import (
    AnswerTimeoutError,
    AnswerTooLargeError,
    BatchRefusedError,
    RateLimitedError,
)

RequestResult = Literal["ok", "error", "rate_limited", "timeout", "refused", "failed"]
"""ok: a result. error: an error object, which is an answer too. rate_limited: too many requests.
timeout: no answer in time. refused: a batch or an answer of this size is not accepted. failed: any
other failure of the message.
"""


class ExchangeReport(msgspec.Struct, frozen=True, kw_only=True):
    """One message to an endpoint and its answer."""

    service: str
    """Host and port of the endpoint."""
    results: tuple[tuple[str, RequestResult], ...]
    """Method and result of each of its requests, in order."""
    seconds: float
    """From sending to the decoded answer; a wait for a free connection slot does not count."""
    sent_bytes: int
    received_bytes: int
    """0: no answer came."""


ExchangeObserver = Callable[[ExchangeReport], None]
"""Receives every exchange, on the event loop's thread."""


def result_of(failure: UpstreamError) -> RequestResult:
    """Return what a failed message means for each of its requests."""
    match failure:
        case AnswerTimeoutError():
            return "timeout"
        case RateLimitedError():
            return "rate_limited"
        case BatchRefusedError() | AnswerTooLargeError():
            return "refused"
        case _:
            return "failed"
