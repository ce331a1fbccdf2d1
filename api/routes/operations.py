"""Declaration of JSON operations that share guards, security and headers."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec
from litestar import Response, delete, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.status_codes import HTTP_204_NO_CONTENT
from litestar.types import Empty, Guard

from api.openapi.responses import NOT_JSON, TOO_LARGE
from api.routes.agent_keys import require_json

_METHODS = {"GET": get, "POST": post, "DELETE": delete}


class OperationGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Operations of one subject, for callers with a key."""

    tag: str
    guards: tuple[Guard, ...]
    responses: Mapping[int, ResponseSpec]
    """Responses of every operation."""
    max_body_bytes: int
    """Largest request body."""

    def operation(
        self,
        method: Literal["GET", "POST", "DELETE"],
        path: str,
        *,
        operation_id: str,
        summary: str,
        responses: Mapping[int, ResponseSpec],
        status: int = 200,
        takes_json: bool = False,
    ) -> Callable[[Callable[..., Any]], HTTPRouteHandler]:
        """Decorate a handler that returns the body of a response, which no cache may store.

        `takes_json`: the request has a body; its refusals are added to the responses.
        """
        refused_bodies = {400: NOT_JSON, 413: TOO_LARGE} if takes_json else {}
        decorate: Callable[[Callable[..., Any]], HTTPRouteHandler] = _METHODS[method](
            path,
            status_code=status,
            guards=[*self.guards, *([require_json] if takes_json else [])],
            security=[{"ApiKey": []}],
            request_max_body_size=self.max_body_bytes if takes_json else Empty,
            after_request=_forbid_storing,
            operation_id=operation_id,
            summary=summary,
            tags=[self.tag],
            responses={**self.responses, **refused_bodies, **responses},
        )
        return decorate


def _forbid_storing(response: Response[Any]) -> Response[Any]:
    if response.status_code != HTTP_204_NO_CONTENT:
        response.headers["Cache-Control"] = "no-store"
    return response
