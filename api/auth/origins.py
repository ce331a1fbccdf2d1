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


def _is_of_this_machine(origin: str) -> bool:
    try:
        host = urlsplit(origin).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
