"""Errors of the API: exceptions with status and body, and their mapping to responses.

Refusals of a token use the envelope of answers instead (see `rendering.py`).
"""

import math
import re
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec
import structlog
from litestar import MediaType, Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.types import ExceptionHandlersMap

from api.formats.shape_building import Shape
from api.formats.times import iso_utc
from core.errors import CallerError, StoreError

_log = structlog.get_logger(__name__)

_SERVER_FAULT = 500

_MISSING_FIELD = re.compile(r"missing required field `(?P<name>\w+)`")

WHOLE_BODY = "data"
"""Litestar's name for the body as a whole."""


class DetailBody(Shape, frozen=True, kw_only=True):
    """Error that is identified by its status alone."""

    detail: str
    """Description of the error, as prose that can change; branch on the status."""


class InvalidItem(Shape, frozen=True, kw_only=True):
    """One invalid value of the input."""

    loc: tuple[str, ...]
    """Position: `path`, `query` or `body`, then the name."""
    msg: str
    """Description of the error, as prose that can change."""
    type: str
    """Kind of the error: missing, value_error or unknown_chain."""


class ValidationBody(Shape, frozen=True, kw_only=True):
    """Invalid input."""

    detail: tuple[InvalidItem, ...]
    """Every invalid value."""


class CallerRefusalBody(Shape, frozen=True, kw_only=True):
    """Refusal of the caller with a stable code."""

    error_code: str
    """Stable code, to branch on."""
    error: str
    """Description of the error in a few words. Can change."""
    detail: str
    """The same in a sentence. Can change."""
    next_step: str
    """Remedy for the caller."""


class RefusalError(CallerError):
    """Base of the errors that this package raises: status, headers and body in one place."""

    def __init__(self, *, status: int, body: Shape, headers: Mapping[str, str] | None = None):
        super().__init__(type(self).__name__)
        self.status = status
        self.body = body
        self.headers = dict(headers or {})

    def raw_headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers in ASGI form."""
        return [(name.lower().encode(), value.encode()) for name, value in self.headers.items()]


class InvalidInputError(RefusalError):
    """A path, query or body value is not one of those allowed."""

    def __init__(self, *items: InvalidItem):
        super().__init__(status=422, body=ValidationBody(detail=items))


class ChainNotServedError(RefusalError):
    """The chain is supported, but this deployment has no node for it."""

    def __init__(self, *, slug: str):
        detail = f"This deployment does not serve the chain {slug}."
        super().__init__(status=503, body=DetailBody(detail=detail))


class KeyRequiredError(RefusalError):
    """The call has no key."""

    def __init__(self, *, takes_token: bool = False) -> None:
        """Build the body; `takes_token`: the route reads Authorization too."""
        where = "in the X-API-Key header"
        if takes_token:
            where += " or as Authorization: Bearer <key>"
        body = CallerRefusalBody(
            error_code="api_key_required",
            error="API key required",
            detail=f"This route needs an API key {where}.",
            next_step=f"Send a key {where}. POST /agent-keys issues a trial key.",
        )
        super().__init__(status=401, body=body)


class UnknownKeyError(RefusalError):
    """The key was never issued, or it was revoked."""

    def __init__(self) -> None:
        super().__init__(status=401, body=DetailBody(detail="Unknown API key."))


class KeyExpiredError(RefusalError):
    """The key is past its deadline."""

    def __init__(self, *, expires_at_s: int):
        body = CallerRefusalBody(
            error_code="api_key_expired",
            error="API key expired",
            detail=f"This API key expired at {iso_utc(expires_at_s)}.",
            next_step="Use another key. A trial key does not renew.",
        )
        super().__init__(status=401, body=body)


class PlanRequiredError(RefusalError):
    """refresh or redecompile was requested on a plan that allows neither."""

    def __init__(self) -> None:
        detail = "refresh and redecompile need an enterprise plan or an admin key."
        super().__init__(status=403, body=DetailBody(detail=detail))


class OperatorRequiredError(RefusalError):
    """The key may not manage jobs."""

    def __init__(self) -> None:
        detail = "Jobs need an operator's key: assay keys create --operator."
        super().__init__(status=403, body=DetailBody(detail=detail))


class NoSuchJobError(RefusalError):
    """There is no job of that name."""

    def __init__(self, *, name: str) -> None:
        super().__init__(status=404, body=DetailBody(detail=f"There is no job {name!r}."))


class JobConflictError(RefusalError):
    """The job is not in a state in which it can be changed like this."""

    def __init__(self, *, name: str, reason: str) -> None:
        super().__init__(status=409, body=DetailBody(detail=f"Job {name!r}: {reason}."))


class JobsOffError(RefusalError):
    """This process has no store to keep jobs in."""

    def __init__(self) -> None:
        super().__init__(status=503, body=DetailBody(detail="This process runs no jobs."))


class LifetimeSpentError(RefusalError):
    """The lifetime quota of a trial key is used up."""

    def __init__(self, *, total: int):
        body = CallerRefusalBody(
            error_code="free_quota_exhausted",
            error="Free quota exhausted",
            detail=f"All {total} calls of this trial key are spent. They do not refill.",
            next_step="Stop calling with this key; retrying never helps. Use a full key.",
        )
        super().__init__(status=402, body=body)


class LimitedError(RefusalError):
    """A rate limit or a quota is used up; `headers` name it."""

    def __init__(self, *, detail: str, headers: Mapping[str, str]):
        super().__init__(status=429, body=DetailBody(detail=detail), headers=headers)


_MINUTE_S: Final = 60
SpentBecause = Literal["running", "network", "chain", "closed"]
"""running: another analysis for the network is running. network, chain: theirs of the hour, or of
the minute, are used up. closed: the deployment has none without a key."""

_SPENT: Final[dict[SpentBecause, str]] = {
    "running": "your network already has a new {one} running",
    "network": "your network has used up its new {many} of this hour",
    "chain": "the new {many} of this chain for callers without a key are used up",
    "closed": "new {many} need a key",
}


def _in_words(wait_s: int) -> str:
    if wait_s < 2 * _MINUTE_S:
        return f"{wait_s} seconds"
    return f"{math.ceil((wait_s - 1) / _MINUTE_S)} minutes"  # a window ends a second later


class AnalysesSpentError(RefusalError):
    """A visitor without a key may have no new analysis or simulation now."""

    def __init__(
        self,
        because: SpentBecause,
        *,
        retry_after_s: int | None,
        is_page: bool = False,
    ):
        """`retry_after_s` None: waiting does not help. `is_page`: of a simulation for a page of a
        token, which may be analysed."""
        new = ("simulation", "simulations") if is_page else ("analysis", "analyses")
        self.reason = _SPENT[because].format(one=new[0], many=new[1])
        if retry_after_s is not None:
            self.reason += f". Try again in {_in_words(retry_after_s)}, or use a key"
        self.detail = f"{self.reason[0].upper()}{self.reason[1:]}."
        if not is_page:
            self.detail = f"This token has not been analysed yet. {self.detail}"
        super().__init__(
            status=403 if retry_after_s is None else 429,
            body=DetailBody(detail=self.detail),
            headers={} if retry_after_s is None else {"Retry-After": str(retry_after_s)},
        )


class NotAnalysedError(RefusalError):
    """A robot requested a page that needs a new analysis or simulation."""

    def __init__(self, *, is_page: bool = False) -> None:
        """`is_page`: of a simulation for a page of a token, which may be analysed."""
        detail = "This token has not been analysed yet."
        if is_page:
            detail = "This page needs a new simulation, which is not made for robots."
        super().__init__(status=404, body=DetailBody(detail=detail))


class TrialIssuedError(RefusalError):
    """The network already has its trial key."""

    def __init__(self) -> None:
        body = CallerRefusalBody(
            error_code="agent_trial_already_issued",
            error="Trial key already issued",
            detail="A trial key was already issued to your network. A key is shown only once.",
            next_step="Use the key that was issued, or a full key.",
        )
        super().__init__(status=409, body=body)


class TrialEndedError(RefusalError):
    """The network's one trial is over."""

    def __init__(self) -> None:
        body = CallerRefusalBody(
            error_code="agent_trial_expired",
            error="Trial ended",
            detail="The trial of your network has ended and does not renew.",
            next_step="Use a full key.",
        )
        super().__init__(status=403, body=body)


class ThrottledError(RefusalError):
    """Too many attempts to get a trial key from one network."""

    def __init__(self, *, retry_after_s: int):
        body = CallerRefusalBody(
            error_code="agent_registration_throttled",
            error="Too many attempts",
            detail="Your network requested a trial key too often within an hour.",
            next_step=f"Wait {retry_after_s} seconds before the next attempt.",
        )
        super().__init__(status=429, body=body, headers={"Retry-After": str(retry_after_s)})


class LedgerDownError(RefusalError):
    """Keys cannot be looked up, or calls cannot be counted, so no call is admitted."""

    def __init__(self) -> None:
        detail = "API keys cannot be checked right now. Try again later."
        super().__init__(status=503, body=DetailBody(detail=detail))


class StoreDownError(RefusalError):
    """Stored tokens cannot be searched."""

    def __init__(self) -> None:
        detail = (
            "The store cannot be read right now. Try again later. A token's address can still be "
            "looked up."
        )
        super().__init__(status=503, body=DetailBody(detail=detail))


class NotJsonError(RefusalError):
    """The body is empty, truncated, or not JSON."""

    def __init__(self) -> None:
        super().__init__(status=400, body=DetailBody(detail="The body is not JSON."))


class BillingOffError(RefusalError):
    """Trial keys are not issued by this deployment."""

    def __init__(self) -> None:
        detail = "This deployment is not configured to issue trial keys."
        super().__init__(status=503, body=DetailBody(detail=detail))


def _answer(body: Shape, status: int, headers: Mapping[str, str] | None) -> Response[Shape]:
    return Response(body, status_code=status, headers=headers, media_type=MediaType.JSON)


def _refusal(_: Request[Any, Any, Any], error: RefusalError) -> Response[Shape]:
    return _answer(error.body, error.status, error.headers)


def _invalid(_: Request[Any, Any, Any], error: ValidationException) -> Response[Shape]:
    """Answer for a value of the wrong form, or a missing field, found by the framework."""
    found = error.extra if isinstance(error.extra, list) else []
    return _answer(ValidationBody(detail=tuple(map(_invalid_item, found))), 422, None)


def _invalid_item(found: Mapping[str, Any]) -> InvalidItem:
    message = str(found["message"])
    missing = _MISSING_FIELD.search(message)
    source = str(msgspec.to_builtins(found["source"]))
    if missing:
        return InvalidItem(loc=(source, missing["name"]), msg=message, type="missing")
    name = str(found.get("key", ""))
    loc = (source,) if name in ("", WHOLE_BODY) else (source, name)
    return InvalidItem(loc=loc, msg=message, type="value_error")


def _http(request: Request[Any, Any, Any], error: HTTPException) -> Response[Shape]:
    """Answer for the framework's own errors: 400, 404, 405, 413."""
    if error.status_code >= _SERVER_FAULT:
        return _fault(request, error)
    return _answer(DetailBody(detail=error.detail), error.status_code, error.headers)


def _ledger_down(request: Request[Any, Any, Any], error: StoreError) -> Response[Shape]:
    """Answer for StoreError: the ledger is the only store that routes read without the analyser."""
    _log.error("ledger unavailable", path=request.url.path, reason=str(error))
    return _refusal(request, LedgerDownError())


def _fault(request: Request[Any, Any, Any], error: Exception) -> Response[Shape]:
    """Answer for an internal error: logged in full, not shown to the caller."""
    _log.error("request failed", path=request.url.path, exc_info=error)
    return _answer(DetailBody(detail="Internal server error."), _SERVER_FAULT, None)


EXCEPTION_HANDLERS: ExceptionHandlersMap = {
    RefusalError: _refusal,
    ValidationException: _invalid,
    HTTPException: _http,
    StoreError: _ledger_down,
    Exception: _fault,
}
