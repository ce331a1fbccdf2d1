"""POST /token/{chain}/{address}/trade-check: what one call would do, before it is signed."""

from typing import Any

from litestar import Request, Response, post
from litestar.params import JSONBody

from api.auth.keys import require_key
from api.error_answers import DetailBody, ValidationBody
from api.formats.native.shapes import Envelope
from api.formats.resources.trade_format import TradeAnswer, TradeRequest
from api.openapi.responses import (
    CALLER_RESPONSES,
    TOO_LARGE,
    UNKNOWN_CHAIN,
    documented,
    unknown_value,
)
from api.routes.agent_keys import require_json
from api.routes.quote_route import respond_to_quote
from api.routes.token import (
    ANALYSED,
    FAULT,
    ChainName,
    TokenAddress,
    require_chain,
)

_MAX_BODY_BYTES = 131_072


@post(
    "/token/{chain:str}/{address:str}/trade-check",
    status_code=200,
    guards=[require_key, require_chain, require_json],
    security=[{"ApiKey": []}],
    request_max_body_size=_MAX_BODY_BYTES,
    operation_id="postTradeCheck",
    summary="What one trade does, before signing",
    tags=["trades"],
    responses={
        200: documented(TradeAnswer, "What the call would do"),
        413: TOO_LARGE,
        422: documented(
            Envelope[None] | ValidationBody,
            f"{ANALYSED}an unknown chain or a bad value gives the validation list",
            unknown_chain=UNKNOWN_CHAIN,
            unknown_router=unknown_value(
                "body",
                "router",
                message="not the router of a configured exchange; give the calldata",
                kind="value_error",
            ),
        ),
        500: documented(
            Envelope[None] | DetailBody,
            "analysis_failed: the node did not answer, retry with backoff; or a fault of ours",
            fault=FAULT,
        ),
        **CALLER_RESPONSES,
    },
)
async def post_trade_check(
    request: Request[Any, Any, Any],
    chain: ChainName,
    address: TokenAddress,
    data: JSONBody[TradeRequest],
) -> Response[bytes]:
    """The very call, simulated from its sender on the newest block: what arrives, what else leaves,
    which allowances stay open, the tax, the reason of a revert; and the token's stored verdict.

    Nothing is sent or signed, and no analysis is started. `passed` is no verdict. Counts as one
    call."""
    return await respond_to_quote(
        request, address, lambda quotes, slug: quotes.trade(chain=slug, address=address, asked=data)
    )
