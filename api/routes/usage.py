"""GET /usage: usage of the calling key, and when its limits reset."""

from typing import Any

from litestar import Request, Response, get

from api.auth.keys import caller_of, require_key
from api.auth.plan_usage import KeyUsage, read_usage
from api.deps import ApiDeps
from api.error_answers import CallerRefusalBody, DetailBody, documented


@get(
    "/usage",
    guards=[require_key],
    security=[{"ApiKey": []}],
    summary="What the key has used",
    tags=["keys"],
    responses={
        200: documented(KeyUsage, "The plan, and what is left of it"),
        401: documented(
            CallerRefusalBody | DetailBody,
            "No key (api_key_required), key past its end (api_key_expired), unknown key",
        ),
        503: documented(DetailBody, "The ledger of keys is out of reach"),
    },
)
async def get_usage(request: Request[Any, Any, Any]) -> Response[KeyUsage]:
    """Answers for a key that has spent its quota too; does not count as a call."""
    deps: ApiDeps = request.app.state.deps
    caller = caller_of(request.scope)
    usage = await read_usage(request.app.state.limits, caller, now_s=deps.now_s())
    return Response(usage, headers={"Cache-Control": "no-store"})
