"""ASGI application in front of the router: answers calls from memory, or passes them on.

Only calls with a known key for a cached answer are answered here. Every check of the router is made
too, in the same order; else the call goes to the router. Nothing here waits for a database, except
counting a call of a key with a lifetime quota.
"""

import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cache

import msgspec
from litestar import Litestar
from litestar.enums import ScopeType
from litestar.types import HTTPScope, Receive, Scope, Send
from prometheus_client import Counter

from api.auth.keys import Caller, Keyring
from api.auth.limits import KeyLimits
from api.error_answers import LedgerDownError, RefusalError
from api.formats.rendering import Format
from api.serving.answers import Answers
from api.serving.cached_answer import CachedAnswer
from api.serving.cors import CorsPolicy
from api.serving.methods import as_get, without_body
from api.serving.packing import Coding, choose_coding, pack, unless_known
from core.errors import StoreError

_ANSWERED = Counter(
    "assay_api_cached_answers", "Calls answered from memory, before the router", ["status"]
)

_FORMS: dict[bytes, Format] = {
    b"": "native",
    b"response_format=native": "native",
    b"response_format=compat": "compat",
}
"""Query strings that are answered here; all others go to the router."""


class _ReadHeaders(msgspec.Struct, frozen=True):
    """The parsed request headers."""

    key: bytes
    coding: Coding | None
    if_none_match: bytes | None


class CachedAnswerApp:
    """The API application: an ASGI callable around the router."""

    def __init__(
        self,
        router: Litestar,
        *,
        keyring: Keyring,
        limits: KeyLimits,
        answers: Answers,
        chains: Mapping[str, str],
        now_s: Callable[[], float],
        sites: CorsPolicy | None = None,
        closes: Sequence[Callable[[], Awaitable[None]]] = (),
    ):
        self.router = router
        self._keyring = keyring
        self._limits = limits
        self._answers = answers
        self._chains = chains
        """Slugs of the supported chains, by each of their names in lower case."""
        self._now_s = now_s
        self._sites = sites
        """CORS policy. None: no cross-origin scripts."""
        self._closes = closes
        """Shutdown functions, called before the answers and limits that they depend on are
        closed."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one call, from memory or by the router."""
        if scope["type"] != ScopeType.HTTP:
            await self.router(scope, receive, send)
            return
        if self._sites is not None:
            if await self._sites.answer_preflight(scope, send):
                return
            send = self._sites.opened(scope, send)
        if scope["method"] == "HEAD":
            scope, send = as_get(scope), without_body(send)
        found = self._find(scope)
        if found is None:
            await self.router(scope, receive, send)
        else:
            await self._send(*found, send)

    async def _send(self, caller: Caller, answer: CachedAnswer, send: Send) -> None:
        """Send the answer, or the error of the limits."""
        headers: list[tuple[bytes, bytes]] = []
        try:
            await self._limits.admit(caller)
        except (RefusalError, StoreError) as error:
            refusal = error if isinstance(error, RefusalError) else LedgerDownError()
            answer = pack(refusal.status, msgspec.json.encode(refusal.body))
            headers += refusal.raw_headers()
        headers += answer.headers
        headers += caller.expiry_headers(self._now_s())
        _answered(answer.status).inc()
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body, "more_body": False})

    @property
    def answers(self) -> Answers:
        """Return the cached answers, for the listener that drops changed reports."""
        return self._answers

    async def aclose(self) -> None:
        """Cancel running analyses, and flush the usage counters."""
        for close in self._closes:
            await close()
        await self._answers.aclose()
        await self._limits.aclose()

    def _find(self, scope: HTTPScope) -> tuple[Caller, CachedAnswer] | None:
        """Return caller and answer, if both are in memory and the call is valid; else None."""
        if scope["method"] != "GET":
            return None
        _, *path = scope["path"].split("/")
        match path:
            case ["token", chain, address]:
                form = _FORMS.get(scope["query_string"])
            case ["token", chain, address, "summary"]:
                form = "summary"
            case _:
                return None
        slug = self._chains.get(chain.lower())
        headers = _read(scope["headers"])
        if form is None or slug is None or headers is None:
            return None
        caller = self._keyring.known(hashlib.sha256(headers.key).hexdigest())
        if caller is None or caller.is_expired(self._now_s()):
            return None
        answer = self._answers.cached(slug, address.lower(), form, headers.coding)
        return None if answer is None else (caller, unless_known(answer, headers.if_none_match))


@cache
def _answered(status: int) -> Counter:
    return _ANSWERED.labels(status)


def _read(headers: Iterable[tuple[bytes, bytes]]) -> _ReadHeaders | None:
    """Parse the headers. None: there is not exactly one key."""
    key, coding, if_none_match = b"", None, None
    for name, value in headers:
        if name == b"x-api-key":
            if key:
                return None
            key = value
        elif name == b"accept-encoding":
            coding = choose_coding(value)
        elif name == b"if-none-match":
            if_none_match = value
    return _ReadHeaders(key, coding, if_none_match) if key else None
