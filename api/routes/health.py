"""GET /health, /ready and /metrics: liveness, readiness and Prometheus metrics."""

import asyncio
import hmac
from typing import Any, Final

from litestar import Request, Response, get
from litestar.exceptions import NotAuthorizedException, NotFoundException
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from api.deps import ApiDeps, ChainState, StatusDeps, StoreState
from api.formats.shape_building import Shape
from api.openapi.responses import documented

_STORE_WITHIN_S: Final = 2.0


class Health(Shape, frozen=True, kw_only=True):
    """The process answers."""

    status: str = "ok"
    """Always ok: a dead process sends no answer."""


class Readiness(Shape, frozen=True, kw_only=True):
    """Readiness of the service."""

    ready: bool
    """Every served chain is being followed, and the store is ready."""
    chains: tuple[ChainState, ...]
    """The served chains."""
    store: StoreState
    """The service's own files."""


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
    summary="Every served chain is followed, and the store can be used",
    tags=["status"],
    responses={
        200: documented(Readiness, "They are, and it can"),
        503: documented(Readiness, "A chain is not, or the store cannot"),
    },
)
async def get_ready(request: Request[Any, Any, Any]) -> Response[Readiness]:
    """503 while the service is not ready.

    That is while a served chain has no answering node, stands still or is behind, while the store
    cannot be read or its disk is full, and once the process is about to end.
    """
    deps: ApiDeps | StatusDeps = request.app.state.deps
    states = await deps.read_states()
    store = await _store_state(deps)
    wanted = deps.must_follow
    are_followed = all(
        state.is_ready for state in states if wanted is None or state.chain in wanted
    )
    ready = store.is_ready and are_followed and not deps.is_ending()
    return Response(
        Readiness(ready=ready, chains=states, store=store), status_code=200 if ready else 503
    )


async def _store_state(deps: ApiDeps | StatusDeps) -> StoreState:
    try:
        async with asyncio.timeout(_STORE_WITHIN_S):
            return await asyncio.to_thread(deps.read_store_state)
    except TimeoutError:
        return StoreState(is_ready=False, reason=f"no answer within {_STORE_WITHIN_S:g} s")


@get("/metrics", include_in_schema=False)
async def get_metrics(request: Request[Any, Any, Any]) -> Response[bytes]:
    """Prometheus text format."""
    deps: ApiDeps | StatusDeps = request.app.state.deps
    if deps.metrics is None:
        raise NotFoundException
    if deps.metrics_token is not None:
        given = request.headers.get("authorization", "")
        wanted = f"Bearer {deps.metrics_token.value}"
        if not hmac.compare_digest(given.encode(), wanted.encode()):
            raise NotAuthorizedException(headers={"WWW-Authenticate": "Bearer"})
    # Collectors read the store.
    text = await asyncio.to_thread(generate_latest, deps.metrics)
    return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST})
