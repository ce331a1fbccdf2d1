"""What must not reach a log: a secret, and the part of an endpoint's address that may hold one."""

from urllib.parse import urlsplit

import msgspec


class Secret(msgspec.Struct, frozen=True):
    """A text that shows itself only to who asks by name."""

    value: str

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__


def mask_url(url: str) -> str:
    """The address without user, path and query: providers put their keys into any of these."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    rest = "/***" if parts.path.strip("/") or parts.query else ""
    return f"{parts.scheme}://{parts.hostname}{port}{rest}"
