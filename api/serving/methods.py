"""HEAD wherever GET is: the same call, counted alike, sent without its body.

Source: RFC 9110, 9.3.2. Clients and monitors ask so whether something is there, and how long it is.
"""

from litestar.types import HTTPScope, Message, Scope, Send

_NAME_METHODS = (204, 405)
"""Answers that name the methods of a route: to OPTIONS, and to one it does not have."""


def as_get(scope: HTTPScope) -> HTTPScope:
    """The call as the routes know it."""
    return {**scope, "method": "GET"}


def without_body(send: Send) -> Send:
    """Send everything but bodies; the head keeps the length of the one left out."""

    async def send_head(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return send_head


async def allow_head(message: Message, _: Scope) -> None:
    """Hook before a response leaves: name HEAD beside GET."""
    if message["type"] != "http.response.start" or message["status"] not in _NAME_METHODS:
        return
    message["headers"] = [
        (name, _with_head(value) if name.lower() == b"allow" else value)
        for name, value in message["headers"]
    ]


def _with_head(allowed: bytes) -> bytes:
    methods = set(allowed.decode("ascii").split(", "))
    return ", ".join(sorted(methods | {"HEAD"} if "GET" in methods else methods)).encode()
