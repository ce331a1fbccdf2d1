"""Authentication by API key, and the headers about a key's expiry."""

import asyncio
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from cachetools import FIFOCache
from litestar.connection import ASGIConnection
from litestar.datastructures import Headers
from litestar.handlers import BaseRouteHandler
from litestar.types import Message, Scope

from api.auth.rate_windows import Window, windows_of
from api.auth.usage_counters import UsageCounters, UsageTally
from api.deps import ApiDeps
from api.error_answers import KeyExpiredError, KeyRequiredError, UnknownKeyError
from api.formats.times import iso_utc
from config.plans import Plan
from core.errors import AssayError, InternalError
from sql.accounts.ledger import Ledger, digest_of
from sql.engine.table_rows import KeyRow

KEY_HEADER = "X-API-Key"

NOTICE_S = 7 * 86_400
"""Seconds before a key expires in which every answer has a warning header."""

_MOST_CALLERS = 20_000

_CALLER = "assay_caller"

RawHeaders = list[tuple[bytes, bytes]]


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """An authenticated key with its plan and counters."""

    key: KeyRow
    plan: Plan
    tally: UsageTally
    windows: tuple[Window, ...]

    def is_expired(self, now_s: float) -> bool:
        """True if the key is past its deadline."""
        return self.key.expires_at_s is not None and self.key.expires_at_s <= now_s

    def expiry_headers(self, now_s: float) -> RawHeaders:
        """Return the headers about the key's deadline; none where it has no deadline."""
        expires_at_s = self.key.expires_at_s
        if expires_at_s is None:
            return []
        at = _iso_bytes(expires_at_s)
        headers = [(b"x-api-key-expires-at", at)]
        left_s = expires_at_s - int(now_s)
        if 0 < left_s <= NOTICE_S:
            headers.append((b"x-api-key-expires-in", b"%d" % left_s))
            headers.append((b"warning", b'299 - "API key expires at %b"' % at))
        return headers


@lru_cache(maxsize=1_000)
def _iso_bytes(time_s: int) -> bytes:
    return iso_utc(time_s).encode()


class PlanGoneError(InternalError):
    """A key has a plan that no longer exists."""

    def __init__(self, *, key: KeyRow):
        super().__init__(f"key {key.key_id} is on plan {key.plan!r}, which does not exist")


class Keyring:
    """Cache of keys in use, by digest; look-ups by digest leak no prefix of a key through
    timing."""

    def __init__(self, ledger: Ledger, plans: Mapping[str, Plan], usage_counters: UsageCounters):
        self._ledger = ledger
        self._plans = plans
        self._usage_counters = usage_counters
        self._callers = FIFOCache[str, Caller](_MOST_CALLERS)
        self._revision = ledger.key_revision

    def known(self, digest: str) -> Caller | None:
        """Return the cached caller; None if not cached, or the cache may be out of date."""
        if not self._usage_counters.are_keys_current():
            return None
        if self._revision != self._ledger.key_revision:
            self._callers.clear()
            self._revision = self._ledger.key_revision
        return self._callers.get(digest)

    async def find(self, digest: str) -> Caller | None:
        """Return the caller of a key that was issued and not revoked, else None. Raises
        StoreError."""
        if not self._usage_counters.are_keys_current():
            await self._usage_counters.look()
        caller = self.known(digest)
        if caller is not None:
            return caller
        revision = self._revision
        key = await asyncio.to_thread(self._ledger.find, digest)
        if key is None or key.revoked_at_s is not None:
            return None
        plan = self._plans.get(key.plan)
        if plan is None:
            raise PlanGoneError(key=key)
        tally = await self._usage_counters.tally(key.key_id)
        caller = Caller(key=key, plan=plan, tally=tally, windows=windows_of(plan))
        if self._ledger.key_revision == revision:
            self._callers[digest] = caller
        return caller

    async def is_live(self, caller: Caller, now_s: float) -> bool:
        """True if a caller's key is neither revoked nor expired by now. Raises StoreError."""
        found = await self.find(caller.key.digest)
        return found is not None and not found.is_expired(now_s)


async def require_key(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Guard: authenticate the caller by the X-API-Key header."""
    key = connection.headers.get(KEY_HEADER, "").strip()
    await _require(connection, key, missing=KeyRequiredError())


async def require_key_or_token(
    connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
) -> None:
    """Guard for clients of other APIs: the key may also come in `Authorization`.

    With or without `Bearer` before it. Where both headers are sent, X-API-Key decides.
    """
    key = key_or_token(connection.headers)
    await _require(connection, key, missing=KeyRequiredError(takes_token=True))


def key_or_token(headers: Headers) -> str:
    """Return the key from either header; empty where there is none."""
    key = headers.get(KEY_HEADER, "").strip()
    if key:
        return key
    token = headers.get("Authorization", "").strip()
    scheme, _sep, rest = token.partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else token


async def _require(
    connection: ASGIConnection[Any, Any, Any, Any], key: str, *, missing: KeyRequiredError
) -> None:
    """Authenticate the caller, or raise."""
    if not key:
        raise missing
    await find_caller(connection, digest_of(key))


async def find_caller(connection: ASGIConnection[Any, Any, Any, Any], digest: str) -> Caller:
    """Return the caller with the key of this digest; every response then has the key's expiry
    headers.

    Raises UnknownKeyError, KeyExpiredError, StoreError.
    """
    deps: ApiDeps = connection.app.state.deps
    keyring: Keyring = connection.app.state.keyring
    state = connection.scope["state"]
    state[_CALLER] = None
    caller = state[_CALLER] = await keyring.find(digest)
    if caller is None:
        raise UnknownKeyError
    if caller.key.expires_at_s is not None and caller.is_expired(deps.now_s()):
        raise KeyExpiredError(expires_at_s=caller.key.expires_at_s)
    return caller


def caller_of(scope: Scope) -> Caller:
    """Return the caller found by `require_key`."""
    caller: Caller = scope["state"][_CALLER]
    return caller


def add_expiry_headers(
    keyring: Keyring, now_s: Callable[[], float]
) -> Callable[[Message, Scope], Any]:
    """Return a hook that adds the expiry headers of the caller's key to each response."""

    async def add(message: Message, scope: Scope) -> None:
        if message["type"] != "http.response.start":
            return
        state = scope.get("state", {})
        # No guard has run: there is no such route (404, 405), or it needs no key.
        caller = state[_CALLER] if _CALLER in state else await _caller_without_route(keyring, scope)
        if caller is not None:
            message["headers"] = [*message["headers"], *caller.expiry_headers(now_s())]

    return add


async def _caller_without_route(keyring: Keyring, scope: Scope) -> Caller | None:
    key = key_or_token(Headers.from_scope(scope))
    try:
        return await keyring.find(digest_of(key)) if key else None
    except AssayError:
        return None  # the response matters more than a missing header
