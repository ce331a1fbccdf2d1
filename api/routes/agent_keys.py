"""POST /agent-keys: one capped trial key for each client network."""

import asyncio
from typing import Annotated, Any

import msgspec
from litestar import Request, Response, post
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.openapi.datastructures import ResponseSpec

from api.clock import iso_utc
from api.errors import (
    BillingOffError,
    CallerRefusalBody,
    DetailBody,
    ThrottledError,
    TrialEndedError,
    TrialIssuedError,
    ValidationBody,
)
from api.networks import client_network
from api.service import ApiDeps
from api.shapes import Shape
from config.errors import InternalError
from sql.ledger import AlreadyIssued, NewKey, TrialEnded

ATTEMPTS_PER_HOUR = 5

MAX_BODY_BYTES = 16_384

_HOUR_S = 3600

_NETWORK = "assay_network"


class TrialRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Why a trial key is wanted. Recorded for the operator; neither is verified."""

    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=2000)]
    contact: Annotated[str, msgspec.Meta(max_length=320)] | None = None


class TrialKey(Shape):
    """A trial key, shown this once."""

    api_key: str
    plan: str
    api_calls_total: int
    """Calls in all."""
    api_calls_per_day: int
    rate_limit_per_minute: int
    expires_at: str
    """ISO 8601 UTC."""
    next_step: str


async def admit_attempt(
    connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
) -> None:
    """Guard: count the attempt, before the body is looked at, and refuse one too many."""
    deps: ApiDeps = connection.app.state.deps
    if not deps.has_billing:
        raise BillingOffError
    network = client_network(
        connection.client.host if connection.client else None,
        _forwarded_for(connection),
        trusted=connection.app.state.trusted_proxies,
    )
    attempts = await asyncio.to_thread(deps.ledger.note_attempt, network, deps.now_s())
    if attempts > ATTEMPTS_PER_HOUR:
        raise ThrottledError(retry_after_s=_HOUR_S)
    connection.scope["state"][_NETWORK] = network


def _forwarded_for(connection: ASGIConnection[Any, Any, Any, Any]) -> list[str]:
    """The hops of all X-Forwarded-For headers, in the order they were added."""
    lines = connection.headers.getall("X-Forwarded-For", [])
    return [hop for line in lines for hop in line.split(",")]


@post(
    "/agent-keys",
    status_code=200,
    guards=[admit_attempt],
    request_max_body_size=MAX_BODY_BYTES,
    summary="Issue a trial key",
    tags=["keys"],
    responses={
        400: ResponseSpec(DetailBody, description="The body is not JSON"),
        403: ResponseSpec(CallerRefusalBody, description="agent_trial_expired"),
        409: ResponseSpec(CallerRefusalBody, description="agent_trial_already_issued"),
        413: ResponseSpec(DetailBody, description="The body is too large"),
        422: ResponseSpec(ValidationBody, description="reason is missing or a value is wrong"),
        429: ResponseSpec(
            CallerRefusalBody, description="agent_registration_throttled; see Retry-After"
        ),
        503: ResponseSpec(DetailBody, description="This deployment issues no trial keys"),
    },
)
async def issue_trial_key(
    request: Request[Any, Any, Any], data: TrialRequest
) -> Response[TrialKey]:
    """One key for each client network, for callers without a person present."""
    deps: ApiDeps = request.app.state.deps
    plan = deps.plans["trial"]
    issued = await asyncio.to_thread(
        deps.ledger.issue_trial,
        request.scope["state"][_NETWORK],
        data.reason,
        data.contact,
        plan,
        deps.now_s(),
    )
    if isinstance(issued, AlreadyIssued):
        raise TrialIssuedError
    if isinstance(issued, TrialEnded):
        raise TrialEndedError
    return Response(_trial_key(issued, deps), headers={"Cache-Control": "no-store"})


def _trial_key(issued: NewKey, deps: ApiDeps) -> TrialKey:
    plan, expires_at_s = deps.plans["trial"], issued.row.expires_at_s
    limits = (plan.lifetime, plan.per_day, plan.per_minute)
    if expires_at_s is None or None in limits:
        raise InternalError("the trial plan lacks a limit that its answer names")
    total, per_day, per_minute = (limit or 0 for limit in limits)
    return TrialKey(
        api_key=issued.plaintext,
        plan=plan.name,
        api_calls_total=total,
        api_calls_per_day=per_day,
        rate_limit_per_minute=per_minute,
        expires_at=iso_utc(expires_at_s),
        next_step="Keep this key, it is shown once. Send it in the X-API-Key header of /token calls.",
    )
