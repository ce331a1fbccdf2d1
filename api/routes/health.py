"""GET /health, /ready and /metrics: liveness, readiness and Prometheus metrics."""

from typing import Any

from litestar import Request, Response, get
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from api.deps import ApiDeps, ChainState
from api.formats.shape_building import Shape
from api.openapi.responses import documented


class Health(Shape, frozen=True, kw_only=True):
    """The process answers."""

    status: str = "ok"
    """Always ok: a process that does not answer says nothing."""


class Readiness(Shape, frozen=True, kw_only=True):
    """Whether every served chain is being followed."""

    ready: bool
    """Every served chain is being followed."""
    chains: tuple[ChainState, ...]
    """The served chains."""


@get(
    "/health",
    operation_id="getHealth",
    summary="The process is alive",
    tags=["status"],
    responses={200: documented(Health, "It is")},
)
async def get_health() -> Health:
    """Answers as long as the process does."""
    return Health()


@get(
    "/ready",
    operation_id="getReady",
    summary="Every served chain is followed",
    tags=["status"],
    responses={
        200: documented(Readiness, "All of them are"),
        503: documented(Readiness, "At least one is not"),
    },
)
async def get_ready(request: Request[Any, Any, Any]) -> Response[Readiness]:
    """503 while a served chain has no answering node or is behind."""
    deps: ApiDeps = request.app.state.deps
    states = await deps.read_states()
    ready = all(state.is_ready for state in states)
    return Response(Readiness(ready=ready, chains=states), status_code=200 if ready else 503)


@get("/metrics", include_in_schema=False)
async def get_metrics() -> Response[bytes]:
    """Prometheus text format."""
    return Response(generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})
