"""Application of a process without API: health, readiness and metrics."""

from litestar import Litestar
from litestar.datastructures import State

from api.deps import StatusDeps
from api.error_answers import EXCEPTION_HANDLERS
from api.routes.health import get_health, get_metrics, get_ready
from api.serving.methods import allow_head


def create_status_app(deps: StatusDeps) -> Litestar:
    """Build the application from its dependencies."""
    return Litestar(
        route_handlers=[get_health, get_ready, get_metrics],
        state=State({"deps": deps}),
        exception_handlers=EXCEPTION_HANDLERS,
        before_send=[allow_head],
        openapi_config=None,
        logging_config=None,
        debug=False,
    )
