"""Who calls: the key, its plan, and the headers that announce the key's end."""

import asyncio
from typing import Any

import msgspec
from litestar.connection import ASGIConnection
from litestar.datastructures import MutableScopeHeaders
from litestar.handlers import BaseRouteHandler
from litestar.types import Message, Scope

from api.clock import iso_utc
from api.errors import KeyExpiredError, KeyRequiredError, UnknownKeyError
from api.service import ApiDeps
from config.errors import InternalError
from config.plans import Plan
from sql.ledger import digest_of
from sql.rows import KeyRow

KEY_HEADER = "X-API-Key"

NOTICE_S = 7 * 86_400
"""In this last part of a key's life every answer warns of its end."""

_CALLER = "assay_caller"


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """A known key and what it may do."""

    key: KeyRow
    plan: Plan


class PlanGoneError(InternalError):
    """A key is on a plan that no longer exists."""

    def __init__(self, *, key: KeyRow):
        super().__init__(f"key {key.key_id} is on plan {key.plan!r}, which does not exist")


async def require_key(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Guard: know the caller, or refuse. Comparison is by digest, so it leaks no prefix."""
    deps: ApiDeps = connection.app.state.deps
    text = connection.headers.get(KEY_HEADER, "").strip()
    if not text:
        raise KeyRequiredError
    key = await asyncio.to_thread(deps.ledger.find, digest_of(text))
    if key is None or key.revoked_at_s is not None:
        raise UnknownKeyError
    plan = deps.plans.get(key.plan)
    if plan is None:
        raise PlanGoneError(key=key)
    connection.scope["state"][_CALLER] = Caller(key=key, plan=plan)
    if key.expires_at_s is not None and key.expires_at_s <= deps.now_s():
        raise KeyExpiredError(expires_at_s=key.expires_at_s)


def caller_of(scope: Scope) -> Caller:
    """Who `require_key` found."""
    caller: Caller = scope["state"][_CALLER]
    return caller


async def add_expiry_headers(message: Message, scope: Scope) -> None:
    """Hook before a response leaves: tell a key with a deadline when that is."""
    if message["type"] != "http.response.start":
        return
    caller: Caller | None = scope.get("state", {}).get(_CALLER)
    if caller is None or caller.key.expires_at_s is None:
        return
    expires_at_s = caller.key.expires_at_s
    deps: ApiDeps = scope["litestar_app"].state.deps
    left_s = expires_at_s - int(deps.now_s())
    headers = MutableScopeHeaders.from_message(message)
    headers["X-API-Key-Expires-At"] = iso_utc(expires_at_s)
    if 0 < left_s <= NOTICE_S:
        headers["X-API-Key-Expires-In"] = str(left_s)
        headers["Warning"] = f'299 - "API key expires at {iso_utc(expires_at_s)}"'
