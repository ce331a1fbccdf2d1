"""Secrets kept out of logs: a masked value type, and masking of URLs that may contain keys."""

from urllib.parse import urlsplit

import msgspec


class Secret(msgspec.Struct, frozen=True):
    """A text that is masked in `repr` and `str`; read it by `value`."""

    value: str

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__


def mask_url(url: str) -> str:
    """Return the URL without user, path and query, any of which may contain a provider's key."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    rest = "/***" if parts.path.strip("/") or parts.query else ""
    return f"{parts.scheme}://{parts.hostname}{port}{rest}"
