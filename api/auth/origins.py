"""Guards against requests from foreign sites, including names that resolve to this service (DNS
rebinding)."""

import ipaddress
from typing import Any, Final
from urllib.parse import urlsplit

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from api.deps import ApiDeps
from api.error_answers import DetailBody, RefusalError

ANY: Final = "*"
"""In `cors_origins`: every site."""


class ForeignOriginError(RefusalError):
    """A script of a site that is not allowed sent the call."""

    def __init__(self) -> None:
        detail = (
            "Scripts from this origin may not call the API. The operator can allow it in "
            "`cors_origins`."
        )
        super().__init__(status=403, body=DetailBody(detail=detail))


async def require_known_origin(
    connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
) -> None:
    """Guard: a browser's script comes from an allowed site, this service, or this machine.

    A site may resolve its own name to this service, so Host is no proof (DNS rebinding). Source:
    Model Context Protocol, Transports, "Security Warning".
    """
    origin = connection.headers.get("Origin")
    if origin is None:
        return
    deps: ApiDeps = connection.app.state.deps
    allowed = {*deps.settings.cors_origins, *([deps.oidc.public_url] if deps.oidc else [])}
    if allowed.isdisjoint({origin, ANY}) and not _is_of_this_machine(origin):
        raise ForeignOriginError


class ForeignPageError(RefusalError):
    """A form of this service was sent from a page of another site."""

    def __init__(self) -> None:
        detail = "This form was sent from a page of another site. Send it from the token's page."
        super().__init__(status=403, body=DetailBody(detail=detail))


async def require_own_page(
    connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
) -> None:
    """Guard: a form without a session is sent from a page of this service, or by no browser.

    Browsers send the origin of a form in Sec-Fetch-Site, over plain HTTP only in Origin. Origin may
    name the requested host: a site that resolves its own name to this service sees no more than any
    visitor. Source: W3C Fetch Metadata Request Headers; RFC 6454.
    """
    site = connection.headers.get("Sec-Fetch-Site")
    if site is not None:
        if site not in ("same-origin", "none"):
            raise ForeignPageError
        return
    origin = connection.headers.get("Origin")
    if origin is None:
        return
    deps: ApiDeps = connection.app.state.deps
    is_public_one = deps.oidc is not None and origin == deps.oidc.public_url
    if not is_public_one and _host_of(origin) != connection.headers.get("Host", "").lower():
        raise ForeignPageError


def _host_of(origin: str) -> str:
    """Return host and port. Empty: the origin has none, as `null`."""
    return origin.partition("://")[2].lower()


def _is_of_this_machine(origin: str) -> bool:
    try:
        host = urlsplit(origin).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
