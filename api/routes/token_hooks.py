"""GET /token/{chain}/{address}/hooks: what the hooks of its pools may do, and who controls them."""

from typing import Any

from litestar import Request, Response, get

from api.auth.keys import require_key
from api.error_answers import DetailBody, ValidationBody
from api.formats.native.shapes import Envelope
from api.formats.resources.hooks_format import HooksAnswer
from api.openapi.responses import CALLER_RESPONSES, UNKNOWN_CHAIN, documented
from api.routes.quote_route import respond_to_quote
from api.routes.token import ANALYSED, FAULT, ChainName, TokenAddress, require_chain


@get(
    "/token/{chain:str}/{address:str}/hooks",
    guards=[require_key, require_chain],
    security=[{"ApiKey": []}],
    operation_id="getTokenHooks",
    summary="What the hooks of its pools may do",
    tags=["trades"],
    responses={
        200: documented(HooksAnswer, "The findings"),
        422: documented(
            Envelope[None] | ValidationBody,
            f"{ANALYSED}an unknown chain gives the validation list",
            unknown_chain=UNKNOWN_CHAIN,
        ),
        500: documented(
            Envelope[None] | DetailBody,
            "analysis_failed: retry with backoff; or a fault outside of the analysis",
            fault=FAULT,
        ),
        **CALLER_RESPONSES,
    },
)
async def get_hooks(
    request: Request[Any, Any, Any],
    chain: ChainName,
    address: TokenAddress,
) -> Response[bytes]:
    """Of the three deepest pools of Uniswap V4 and PancakeSwap Infinity that have a hook: its
    permissions, what its code can do, whether that can be replaced, and who controls it.

    What is not known is null, and nothing is called safe. Counts as one call."""
    return await respond_to_quote(
        request, address, lambda quotes, slug: quotes.hooks(chain=slug, address=address)
    )
