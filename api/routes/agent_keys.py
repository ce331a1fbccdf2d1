"""POST /agent-keys: one capped trial key for each client network."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from litestar import Request, Response, post
from litestar.connection import ASGIConnection
from litestar.exceptions import InternalServerException
from litestar.handlers import BaseRouteHandler
from litestar.params import JSONBody

from api.auth.networks import network_of
from api.deps import ApiDeps
from api.error_answers import (
    BillingOffError,
    CallerRefusalBody,
    DetailBody,
    LedgerDownError,
    NotJsonError,
    ThrottledError,
    TrialEndedError,
    TrialIssuedError,
    ValidationBody,
)
from api.formats.shape_building import Shape
from api.formats.times import iso_utc
from api.openapi.responses import NOT_JSON, TOO_LARGE, documented, unknown_value
from config.plans import Plan
from core.errors import ConfigError
from sql.accounts.ledger import AlreadyIssued, NewKey, TrialEnded

ATTEMPTS_PER_HOUR = 5

MAX_BODY_BYTES = 16_384

_DAY_S = 86_400

_NETWORK = "assay_network"

# A truncated body (an internal error to Litestar), one that is not JSON, or nested too deep.
_NOT_JSON = (
    InternalServerException,
    msgspec.DecodeError,
    UnicodeDecodeError,
    RecursionError,
)


class TrialRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Reason for a trial key. Recorded for the operator; neither key is verified."""

    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=2000)]
    """Purpose of the key."""
    contact: Annotated[str, msgspec.Meta(max_length=320)] | None = None
    """Contact of the caller for the operator, such as an e-mail address."""


class TrialKey(Shape, frozen=True, kw_only=True):
    """A trial key, shown this once."""

    api_key: str
    """The key, shown this once."""
    plan: str
    """Plan of the key."""
    api_calls_total: int
    """Calls in the key's whole life; they do not refill."""
    api_calls_per_day: int
    """Calls a day, in UTC."""
    rate_limit_per_minute: int
    """Calls within any 60 seconds."""
    expires_at: str
    """End of the key, ISO 8601 UTC."""
    next_step: str
    """Advice on using the key, as prose."""


class TrialTerms(msgspec.Struct, frozen=True, kw_only=True):
    """The trial plan, with all limits that the answer names."""

    plan: Plan
    total: int
    per_day: int
    per_minute: int
    days: int


def trial_terms(plans: Mapping[str, Plan]) -> TrialTerms:
    """Return the terms of the trial plan. Raises ConfigError where the plan leaves one of them
    open."""
    plan = plans["trial"]
    if not (plan.lifetime and plan.per_day and plan.per_minute and plan.expires_after_days):
        raise ConfigError(
            source="plans.toml",
            key="trial",
            reason="needs lifetime, per_day, per_minute and expires_after_days",
        )
    return TrialTerms(
        plan=plan,
        total=plan.lifetime,
        per_day=plan.per_day,
        per_minute=plan.per_minute,
        days=plan.expires_after_days,
    )


async def admit_attempt(
    connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
) -> None:
    """Guard: count the attempt, before the body is read, and refuse one too many."""
    deps: ApiDeps = connection.app.state.deps
    if not deps.has_billing:
        raise BillingOffError
    network = network_of(connection)
    wait_s = await asyncio.to_thread(
        deps.ledger.note_attempt, network, deps.now_s(), per_hour=ATTEMPTS_PER_HOUR
    )
    if wait_s:
        raise ThrottledError(retry_after_s=wait_s)
    connection.scope["state"][_NETWORK] = network


async def require_json(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Guard: the body is JSON. Litestar validates its content, but accepts a missing body."""
    if not isinstance(connection, Request):
        return
    try:
        msgspec.json.decode(await connection.body())
    except _NOT_JSON as error:
        raise NotJsonError from error


@post(
    "/agent-keys",
    status_code=200,
    guards=[admit_attempt, require_json],
    request_max_body_size=MAX_BODY_BYTES,
    operation_id="postAgentKeys",
    summary="Issue a trial key",
    tags=["keys"],
    responses={
        200: documented(TrialKey, "The key, shown this once"),
        400: NOT_JSON,
        403: documented(
            CallerRefusalBody,
            "The trial of this network has ended (agent_trial_expired)",
            agent_trial_expired=TrialEndedError(),
        ),
        409: documented(
            CallerRefusalBody,
            "This network has its key (agent_trial_already_issued)",
            agent_trial_already_issued=TrialIssuedError(),
        ),
        413: TOO_LARGE,
        422: documented(
            ValidationBody,
            "reason is missing or a value is wrong",
            no_reason=unknown_value(
                "body",
                "reason",
                message="Object missing required field `reason`",
                kind="missing",
            ),
        ),
        429: documented(
            CallerRefusalBody,
            "Too many attempts (agent_registration_throttled); see Retry-After",
            agent_registration_throttled=ThrottledError(retry_after_s=1200),
        ),
        503: documented(
            DetailBody,
            "This deployment issues no trial keys; or their ledger is out of reach",
            not_configured=BillingOffError(),
            ledger_down=LedgerDownError(),
        ),
    },
)
async def issue_trial_key(
    request: Request[Any, Any, Any], data: JSONBody[TrialRequest]
) -> Response[TrialKey]:
    """One key for each client network, for callers without a person present."""
    deps: ApiDeps = request.app.state.deps
    terms: TrialTerms = request.app.state.trial
    issued = await asyncio.to_thread(
        deps.ledger.issue_trial,
        request.scope["state"][_NETWORK],
        data.reason,
        data.contact,
        terms.plan,
        deps.now_s(),
    )
    if isinstance(issued, AlreadyIssued):
        raise TrialIssuedError
    if isinstance(issued, TrialEnded):
        raise TrialEndedError
    return Response(_trial_key(issued, terms), headers={"Cache-Control": "no-store"})


def _trial_key(issued: NewKey, terms: TrialTerms) -> TrialKey:
    return TrialKey(
        api_key=issued.plaintext,
        plan=terms.plan.name,
        api_calls_total=terms.total,
        api_calls_per_day=terms.per_day,
        rate_limit_per_minute=terms.per_minute,
        expires_at=iso_utc(issued.row.created_at_s + terms.days * _DAY_S),
        next_step="Keep this key: it is shown once. Send it in the X-API-Key header of /token.",
    )
