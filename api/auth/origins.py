"""Which sites' scripts may call, where a call could come by a name that a site points at us."""

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
    """The call is by a script of a site that is not allowed to."""

    def __init__(self) -> None:
        detail = "Scripts of this Origin may not call; the operator allows some by `cors_origins`."
        super().__init__(status=403, body=DetailBody(detail=detail))


async def require_known_origin(
    connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
) -> None:
    """Guard: a browser's script is of an allowed site, of ours, or of this machine.

    A site may point its own name at our address, so that Host is no proof (DNS rebinding). Source:
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
    """A page of another site has sent a form of ours."""

    def __init__(self) -> None:
        detail = "This was sent by a page of another site. Open the token's page, and ask there."
        super().__init__(status=403, body=DetailBody(detail=detail))


async def require_own_page(
    connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
) -> None:
    """Guard: a form without a session is sent from a page of ours, or by no browser.

    Browsers say where a form comes from in Sec-Fetch-Site, over plain HTTP in Origin alone. It may
    name the host that was asked: whoever points a name of theirs at us sees no more by it than any
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
    """Return host and port. Empty: an origin without one, which `null` is."""
    return origin.partition("://")[2].lower()


def _is_of_this_machine(origin: str) -> bool:
    try:
        host = urlsplit(origin).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
