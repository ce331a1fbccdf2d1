"""Who calls: the key, its plan, and the headers that announce the key's end."""

import asyncio
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.types import Message, Scope

from api.books import Books, Tally
from api.clock import iso_utc
from api.errors import KeyExpiredError, KeyRequiredError, UnknownKeyError
from api.service import ApiDeps
from api.windows import Window, windows_of
from config.errors import InternalError
from config.plans import Plan
from sql.ledger import Ledger, digest_of
from sql.rows import KeyRow

KEY_HEADER = "X-API-Key"

NOTICE_S = 7 * 86_400
"""In this last part of a key's life every answer warns of its end."""

_MOST_CALLERS = 20_000

_CALLER = "assay_caller"

RawHeaders = list[tuple[bytes, bytes]]


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """A known key and what it may do."""

    key: KeyRow
    plan: Plan
    tally: Tally
    windows: tuple[Window, ...]

    def is_expired(self, now_s: float) -> bool:
        """The key is past its deadline."""
        return self.key.expires_at_s is not None and self.key.expires_at_s <= now_s

    def expiry_headers(self, now_s: float) -> RawHeaders:
        """What every response to the key tells of its deadline; nothing where it has none."""
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
    """A key is on a plan that no longer exists."""

    def __init__(self, *, key: KeyRow):
        super().__init__(f"key {key.key_id} is on plan {key.plan!r}, which does not exist")


class Keyring:
    """Keys by digest, those in use in memory. Comparison is by digest, so it leaks no prefix."""

    def __init__(self, ledger: Ledger, plans: Mapping[str, Plan], books: Books):
        self._ledger = ledger
        self._plans = plans
        self._books = books
        self._callers: dict[str, Caller] = {}
        self._revision = ledger.key_revision

    def known(self, digest: str) -> Caller | None:
        """The caller, as far as memory can tell; None also when memory is not to be believed."""
        if not self._books.are_keys_current():
            return None
        if self._revision != self._ledger.key_revision:
            self._callers.clear()
            self._revision = self._ledger.key_revision
        return self._callers.get(digest)

    async def find(self, digest: str) -> Caller | None:
        """The caller with a key that was issued and not revoked. Raises StoreError."""
        if not self._books.are_keys_current():
            await self._books.look()
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
        tally = await self._books.tally(key.key_id)
        caller = Caller(key=key, plan=plan, tally=tally, windows=windows_of(plan))
        if self._ledger.key_revision == revision:
            if len(self._callers) >= _MOST_CALLERS:
                del self._callers[next(iter(self._callers))]
            self._callers[digest] = caller
        return caller


async def require_key(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Guard: know the caller by the header that every route of the specification takes."""
    await _require(connection, connection.headers.get(KEY_HEADER, "").strip())


async def require_key_or_token(
    connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
) -> None:
    """Guard for clients that were written for others: the key may also come as `Authorization`.

    With or without `Bearer` before it. Where both headers are sent, X-API-Key decides.
    """
    text = connection.headers.get(KEY_HEADER, "").strip()
    if not text:
        text = connection.headers.get("Authorization", "").strip()
        scheme, _sep, rest = text.partition(" ")
        if scheme.lower() == "bearer":
            text = rest.strip()
    await _require(connection, text)


async def _require(connection: ASGIConnection[Any, Any, Any, Any], text: str) -> None:
    """Know the caller, or refuse."""
    deps: ApiDeps = connection.app.state.deps
    keyring: Keyring = connection.app.state.keyring
    if not text:
        raise KeyRequiredError
    caller = await keyring.find(digest_of(text))
    if caller is None:
        raise UnknownKeyError
    connection.scope["state"][_CALLER] = caller
    if caller.key.expires_at_s is not None and caller.is_expired(deps.now_s()):
        raise KeyExpiredError(expires_at_s=caller.key.expires_at_s)


def caller_of(scope: Scope) -> Caller:
    """Who `require_key` found."""
    caller: Caller = scope["state"][_CALLER]
    return caller


def add_expiry_headers(now_s: Callable[[], float]) -> Callable[[Message, Scope], Any]:
    """Hook before a response leaves: tell a key with a deadline when that is."""

    async def add(message: Message, scope: Scope) -> None:
        if message["type"] != "http.response.start":
            return
        caller: Caller | None = scope.get("state", {}).get(_CALLER)
        if caller is not None:
            message["headers"] = [*message["headers"], *caller.expiry_headers(now_s())]

    return add
