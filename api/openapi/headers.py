"""The headers of requests and responses, as the OpenAPI document names them."""

from typing import Any, Final

_EXPIRY: Final[dict[str, tuple[str, str, object]]] = {
    # name -> meaning, type, example
    "X-API-Key-Expires-At": (
        "When the key ends, ISO 8601 UTC. Absent: it has no deadline.",
        "string",
        "2026-12-07T09:30:00Z",
    ),
    "X-API-Key-Expires-In": (
        "Seconds until then; in the key's last seven days alone.",
        "integer",
        86_400,
    ),
    "Warning": (
        "The same as a sentence; in the key's last seven days alone.",
        "string",
        '299 - "API key expires at 2026-12-07T09:30:00Z"',
    ),
}

_STORED: Final[dict[str, tuple[str, str, object]]] = {
    "ETag": (
        "Names the body, whatever its coding; send it back as If-None-Match.",
        "string",
        'W/"6f3a0d5b8c1e4f7a9b2d5e80"',
    ),
    "Cache-Control": (
        "An answer belongs to the caller, and is asked for again with its ETag.",
        "string",
        "private, no-cache",
    ),
    "Content-Encoding": (
        "Coding of a longer body, the best that Accept-Encoding allows. Absent: none.",
        "string",
        "zstd",
    ),
    "Vary": ("Request headers that the body depends on.", "string", "accept-encoding"),
}

_LIMITS: Final[dict[str, tuple[str, str, object]]] = {
    "Retry-After": (
        "Seconds to wait. Absent where the monthly quota is used up: do not wait for it.",
        "integer",
        7,
    ),
    "X-RateLimit-Burst-Limit": ("Calls that fit into the burst window.", "integer", 5),
    "X-RateLimit-Burst-Window": ("Length of the burst window in seconds.", "integer", 10),
    "X-RateLimit-Limit": ("Calls within 60 seconds.", "integer", 20),
    "X-RateLimit-Remaining": ("Calls left in the window that is full: 0.", "integer", 0),
    "X-Quota-Daily-Limit": ("Calls a day, in UTC.", "integer", 25),
    "X-Quota-Daily-Used": ("Calls of the day so far.", "integer", 25),
    "X-Quota-Monthly-Limit": ("Calls a month, in UTC.", "integer", 10_000),
    "X-Quota-Monthly-Used": ("Calls of the month so far.", "integer", 10_000),
}

IF_NONE_MATCH: Final[dict[str, Any]] = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "The ETag of an answer at hand: 304 without a body if it is still the answer.",
    "schema": {"type": "string", "examples": [_STORED["ETag"][2]]},
}
"""Request header of the routes whose answers have an ETag."""


def header_components() -> dict[str, Any]:
    """Return the `headers` of the document's components."""
    return {
        name: {
            "description": meaning,
            "schema": {"type": kind, "examples": [example]},
        }
        for name, (meaning, kind, example) in {**_EXPIRY, **_STORED, **_LIMITS}.items()
    }


def headers_of(status: str, *, takes_key: bool, is_stored: bool) -> dict[str, Any]:
    """Return the headers of a response.

    `takes_key`: the operation has a caller, who hears of the deadline of the key; `is_stored`: its
    answers can be asked for again by their ETag. A caller without a key is told when to come back,
    and nothing else.
    """
    names: list[str] = []
    if is_stored and status in ("200", "304"):
        names += _STORED
    if status == "429":
        names += _LIMITS if takes_key else ["Retry-After"]
    if takes_key:
        names += _EXPIRY
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
