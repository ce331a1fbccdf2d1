"""CORS: lets scripts of the configured origins read answers, never with credentials.

So pages of a signed-in browser stay closed to other sites. Source: the Fetch standard, section 3.2.
"""

from collections.abc import Iterable

from litestar.types import HTTPScope, Message, Send

from api.auth.keys import RawHeaders
from api.auth.origins import ANY

_KEEP_S = 600

_METHODS = b"GET, HEAD, POST, DELETE"

_HEADERS = (
    b"accept, authorization, content-type, if-none-match, "
    b"last-event-id, mcp-protocol-version, mcp-session-id, x-api-key"
)

_EXPOSED = (
    b"ETag, Retry-After, Warning, X-API-Key-Expires-At, X-API-Key-Expires-In, "
    b"X-Quota-Daily-Limit, X-Quota-Daily-Used, X-Quota-Monthly-Limit, X-Quota-Monthly-Used, "
    b"X-RateLimit-Burst-Limit, X-RateLimit-Burst-Window, X-RateLimit-Limit, X-RateLimit-Remaining"
)


class CorsPolicy:
    """The origins whose scripts may call. `*` allows all."""

    def __init__(self, origins: Iterable[str]):
        self._origins = frozenset(origins)

    def opened(self, scope: HTTPScope, send: Send) -> Send:
        """Return a send function that adds the CORS headers, if the caller's origin is allowed."""
        admitted = self._admit(scope)

        async def send_opened(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *admitted]
            await send(message)

        return send_opened

    async def answer_preflight(self, scope: HTTPScope, send: Send) -> bool:
        """Answer a CORS preflight request. Return False if the call is not one."""
        names = {name for name, _ in scope["headers"]}
        asks = {b"origin", b"access-control-request-method"} <= names
        if scope["method"] != "OPTIONS" or not asks:
            return False
        headers = self._admit(scope)
        if len(headers) > 1:
            headers += [
                (b"access-control-allow-methods", _METHODS),
                (b"access-control-allow-headers", _HEADERS),
                (b"access-control-max-age", b"%d" % _KEEP_S),
            ]
        await send({"type": "http.response.start", "status": 204, "headers": headers})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return True

    def _admit(self, scope: HTTPScope) -> RawHeaders:
        if ANY in self._origins:
            allowed = ANY.encode()
            vary: RawHeaders = []
        else:
            allowed = next((value for name, value in scope["headers"] if name == b"origin"), b"")
            vary = [(b"vary", b"origin")]
            if allowed.decode("latin-1") not in self._origins:
                return vary
        return [
            *vary,
            (b"access-control-allow-origin", allowed),
            (b"access-control-expose-headers", _EXPOSED),
        ]
