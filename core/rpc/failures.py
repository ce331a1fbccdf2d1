"""Failures of a node's answer, as subclasses of UpstreamError; the class decides the reaction.

UpstreamError
├── AnswerTimeoutError    no complete answer in time: request less, or elsewhere
├── AnswerTooLargeError   more bytes than allowed: request less
├── HttpStatusError       an HTTP error without a JSON-RPC body
├── RateLimitedError      too many requests: wait, or try elsewhere
├── BatchRefusedError     several requests in one message are refused: send fewer
├── QueryFailedError      an unknown error to a log query of several blocks: request less
├── AddressRefusedError   logs are served by contract only: try elsewhere, or read receipts
├── MalformedAnswerError  not JSON-RPC, or ids that were not requested
└── DisagreementError     two answers, or an answer and its request, contradict each other

RangeRefusedError is no UpstreamError: the node is healthy, the query was too large.
"""

from core.errors import AssayError, UpstreamError


class AnswerTimeoutError(UpstreamError):
    """No complete answer within the time limit."""


class AnswerTooLargeError(UpstreamError):
    """The answer is longer than `rpc.max_response_bytes`."""


class HttpStatusError(UpstreamError):
    """An HTTP error status whose body is not JSON-RPC."""

    def __init__(self, *, service: str, status: int) -> None:
        super().__init__(service=service, reason=f"HTTP {status}")
        self.status = status


class RateLimitedError(UpstreamError):
    """The endpoint limits our rate."""

    def __init__(self, *, service: str, reason: str, retry_after_s: float | None = None) -> None:
        super().__init__(service=service, reason=reason)
        self.retry_after_s = retry_after_s
        """Seconds to wait. None: the endpoint did not name any."""


class BatchRefusedError(UpstreamError):
    """The endpoint does not take this many requests in one message."""


class QueryFailedError(UpstreamError):
    """The endpoint answers a query for logs of several blocks with an error of unknown meaning."""


class AddressRefusedError(UpstreamError):
    """The endpoint does not answer `eth_getLogs` unless contracts are named, or not at all."""


class MalformedAnswerError(UpstreamError):
    """Not JSON, not JSON-RPC, or not for the requests that were sent."""


class DisagreementError(UpstreamError):
    """Two answers, or an answer and its request, that contradict each other. Names both
    requests."""

    def __init__(self, *, first: str, second: str, difference: str) -> None:
        super().__init__(service="node", reason=f"{first} and {second} disagree: {difference}")
        self.first = first
        self.second = second
        self.difference = difference


class IllFormedError(ValueError):
    """A field of an answer with an invalid value. The reader adds the request's name."""

    def __init__(self, *, part: str) -> None:
        super().__init__(f"ill-formed {part}")


class RangeRefusedError(AssayError):
    """The node refuses a range of this many blocks, or this many logs."""

    def __init__(self, *, message: str, suggested: tuple[int, int] | None) -> None:
        super().__init__(message)
        self.suggested = suggested
        """First and last block that the node suggests instead. None: it suggested none."""
