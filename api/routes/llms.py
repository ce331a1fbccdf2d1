"""GET /llms.txt: a guide to this service for AI agents, from its routes, plans and chains.

Format: the llms.txt proposal, a Markdown page of a title, a summary and sections.
"""

from typing import Any

from litestar import MediaType, Request, get
from litestar.openapi.datastructures import ResponseSpec

from api.deps import ApiDeps
from api.served_chains import list_chains
from config.plans import Plan

_HEAD = """\
# Assay

> Token-safety findings for EVM chains: can this token be bought, sold and kept? Read-only.

## How to read an answer

- null, an absent key and a flag with status `unknown` mean that it is not known. Never take that \
for safe, for false or for 0.
- `pending` means that the analysis is running: repeat the request after some seconds.
- A verdict of `safe` covers only what was tested; read `unknown_flag_count` with it.
- Test for true and for false; a token cannot be sold only where `sell_success` is false.
- Branch on the HTTP status and `error_code`, never on prose.

## Keys

- Send the key as `X-API-Key`. `/mcp` and `/goplus` take `Authorization: Bearer` too.
- Unattended: POST /agent-keys with `{"reason": "..."}` gives one trial key for a network, \
shown once. Do not put it into published code.
- 429: wait for Retry-After, where there is one. 402: the trial is spent; never retry.
"""


@get(
    "/llms.txt",
    media_type=MediaType.TEXT,
    operation_id="getLlmsText",
    summary="Guide for AI agents",
    tags=["agents"],
    responses={200: ResponseSpec(str, description="Markdown", media_type=MediaType.TEXT)},
)
async def get_llms_text(request: Request[Any, Any, Any]) -> str:
    """Routes, keys, plans, chains, and how to read an answer."""
    deps: ApiDeps = request.app.state.deps
    parts = [_HEAD, _routes(request), _plans(deps), _chains(deps)]
    return "\n".join(parts)


def _routes(request: Request[Any, Any, Any]) -> str:
    """Return the routes section, from the OpenAPI document."""
    lines = ["## Routes", "", "- [OpenAPI document](/schema): every field and every error"]
    for path, item in (request.app.openapi_schema.paths or {}).items():
        for method in ("get", "post", "delete"):
            operation = getattr(item, method)
            if operation is not None:
                lines.append(f"- `{method.upper()} {path}`: {operation.summary}")
    return "\n".join([*lines, ""])


def _plans(deps: ApiDeps) -> str:
    return "\n".join(["## Plans", "", *map(_plan, deps.plans.values()), ""])


def _plan(plan: Plan) -> str:
    limits = {
        f"{plan.burst_limit} calls in {plan.burst_window_s} seconds": plan.burst_limit,
        f"{plan.per_minute} a minute": plan.per_minute,
        f"{plan.per_day} a day": plan.per_day,
        f"{plan.per_month} a month": plan.per_month,
        f"{plan.lifetime} in all": plan.lifetime,
        f"ends after {plan.expires_after_days} days": plan.expires_after_days,
    }
    words = ", ".join(text for text, limit in limits.items() if limit is not None)
    return f"- {plan.name}: {words or 'no limits'}"


def _chains(deps: ApiDeps) -> str:
    lines = [
        f"- {chain.chain} ({', '.join((str(chain.chain_id), *chain.aliases))}): {chain.name}"
        f"{'' if chain.is_served else ', not here'}"
        for chain in list_chains(deps)
    ]
    return "\n".join(["## Chains", "", *lines, ""])
