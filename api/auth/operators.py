"""Guard of what only the operator of the service may do."""

from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from api.auth.keys import caller_of
from api.error_answers import OperatorRequiredError


async def require_operator(
    connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
) -> None:
    """Guard, behind `require_key`: the key is an operator's."""
    if not caller_of(connection.scope).key.is_operator:
        raise OperatorRequiredError
