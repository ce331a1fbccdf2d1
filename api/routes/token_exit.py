"""GET /token/{chain}/{address}/exit: what leaving brings, at several sizes."""

from typing import Annotated, Any

from litestar import Request, Response, get
from litestar.params import Parameter

from api.auth.keys import require_key
from api.error_answers import DetailBody, ValidationBody
from api.formats.native.shapes import Envelope
from api.formats.resources.exit_format import ExitAnswer
from api.openapi.responses import CALLER_RESPONSES, UNKNOWN_CHAIN, documented, unknown_value
from api.routes.quote_route import respond_to_quote
from api.routes.token import (
    ANALYSED,
    FAULT,
    ChainName,
    TokenAddress,
    require_chain,
)


@get(
    "/token/{chain:str}/{address:str}/exit",
    guards=[require_key, require_chain],
    security=[{"ApiKey": []}],
    operation_id="getTokenExit",
    summary="What leaving brings, at size",
    tags=["trades"],
    responses={
        200: documented(ExitAnswer, "The quote"),
        422: documented(
            Envelope[None] | ValidationBody,
            f"{ANALYSED}an unknown chain or query value gives the validation list",
            unknown_chain=UNKNOWN_CHAIN,
            bad_size=unknown_value(
                "query", "amount", message="Either usd or amount.", kind="value_error"
            ),
        ),
        500: documented(
            Envelope[None] | DetailBody,
            "analysis_failed: retry with backoff; or a fault outside of the analysis",
            fault=FAULT,
        ),
        **CALLER_RESPONSES,
    },
)
async def get_exit(
    request: Request[Any, Any, Any],
    chain: ChainName,
    address: TokenAddress,
    usd: Annotated[
        float | None,
        Parameter(
            description="A size of your own, in USD at the spot price",
            schema_extra={"examples": [2_500.0]},
        ),
    ] = None,
    amount: Annotated[
        str | None,
        Parameter(
            description="Or in tokens, as a decimal number, such as 1250.5",
            schema_extra={"examples": ["1250.5"]},
        ),
    ] = None,
) -> Response[bytes]:
    """Proceeds after tax, fees and price impact for 100, 1,000, 10,000 and 100,000 USD and a size
    of your own, split best over the pools; gas; and what can be sold until half the depth is gone.

    Every figure is of a sale that was simulated whole, on one block. A size that cannot be sold has
    no figures and a reason. Counts as one call."""
    return await respond_to_quote(
        request,
        address,
        lambda quotes, slug: quotes.exit(chain=slug, address=address, usd=usd, amount=amount),
    )
