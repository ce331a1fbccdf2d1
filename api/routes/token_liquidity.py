"""GET /token/{chain}/{address}/liquidity: who holds the liquidity, and who can withdraw it."""

from typing import Any

from litestar import Request, Response, get

from api.auth.keys import require_key
from api.error_answers import DetailBody, ValidationBody
from api.formats.native.shapes import Envelope
from api.formats.resources.liquidity_format import LiquidityAnswer
from api.openapi.responses import CALLER_RESPONSES, UNKNOWN_CHAIN, documented
from api.routes.quote_route import respond_to_quote
from api.routes.token import (
    ANALYSED,
    FAULT,
    ChainName,
    TokenAddress,
    require_chain,
)


@get(
    "/token/{chain:str}/{address:str}/liquidity",
    guards=[require_key, require_chain],
    security=[{"ApiKey": []}],
    operation_id="getTokenLiquidity",
    summary="Who holds the liquidity",
    tags=["trades"],
    responses={
        200: documented(LiquidityAnswer, "The findings"),
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
async def get_liquidity(
    request: Request[Any, Any, Any],
    chain: ChainName,
    address: TokenAddress,
) -> Response[bytes]:
    """Of the three deepest pools: the shares that are burnt, locked (and until when), withdrawable
    now (and by whom), held by contracts of which nobody knows, and unaccounted; and a withdrawal by
    the largest holder who can, simulated with a sale before and after it.

    Burnt and locked are said only where a burn address or a known locker's records show it. Counts
    as one call."""
    return await respond_to_quote(
        request, address, lambda quotes, slug: quotes.liquidity(chain=slug, address=address)
    )
