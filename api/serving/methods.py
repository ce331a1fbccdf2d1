"""HEAD for every GET route: the same call, counted alike, sent without its body.

Source: RFC 9110, 9.3.2. Clients and monitors use it to check existence and length.
"""

from typing import Final, cast

from litestar.types import HTTPScope, Message, Scope, Send

_IS_HEAD: Final = "assay.is_head"

_NAME_METHODS = (204, 405)
"""Statuses whose responses name the methods of a route: to OPTIONS, and to an unsupported
method."""


def as_get(scope: HTTPScope) -> HTTPScope:
    """Return the scope of a HEAD call as GET, which the routes handle."""
    return cast("HTTPScope", {**scope, "method": "GET", _IS_HEAD: True})


def is_head(scope: Scope) -> bool:
    """True if the caller needs no body, so that a streaming route need not begin it."""
    return bool(scope.get(_IS_HEAD))


def without_body(send: Send) -> Send:
    """Return a send function that empties bodies; Content-Length stays that of the omitted body."""

    async def send_head(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return send_head


async def allow_head(message: Message, _: Scope) -> None:
    """Hook before a response is sent: add HEAD to `Allow` where it has GET."""
    if message["type"] != "http.response.start" or message["status"] not in _NAME_METHODS:
        return
    message["headers"] = [
        (name, _with_head(value) if name.lower() == b"allow" else value)
        for name, value in message["headers"]
    ]


def _with_head(allowed: bytes) -> bytes:
    methods = set(allowed.decode("ascii").split(", "))
    return ", ".join(sorted(methods | {"HEAD"} if "GET" in methods else methods)).encode()
