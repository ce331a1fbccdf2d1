"""GET /usage: usage of the calling key, and when its limits reset."""

from typing import Any

from litestar import Request, Response, get

from api.auth.keys import caller_of, require_key
from api.auth.plan_usage import KeyUsage, read_usage
from api.deps import ApiDeps
from api.openapi.responses import LEDGER_DOWN, NO_KEY, documented


@get(
    "/usage",
    guards=[require_key],
    security=[{"ApiKey": []}],
    operation_id="getUsage",
    summary="What the key has used",
    tags=["keys"],
    responses={
        200: documented(KeyUsage, "The plan, and what is left of it"),
        401: NO_KEY,
        503: LEDGER_DOWN,
    },
)
async def get_usage(request: Request[Any, Any, Any]) -> Response[KeyUsage]:
    """Answers also for a key that has spent its quota; does not count as a call."""
    deps: ApiDeps = request.app.state.deps
    caller = caller_of(request.scope)
    usage = await read_usage(request.app.state.limits, caller, now_s=deps.now_s())
    return Response(usage, headers={"Cache-Control": "no-store"})
