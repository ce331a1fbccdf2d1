"""GET /token/{chain}/{address}/evidence: the evidence behind the findings."""

from typing import Any

from litestar import Request, Response, get

from api.auth.keys import require_key
from api.error_answers import ValidationBody
from api.formats.native.shapes import Envelope
from api.formats.rendering import EvidenceBody
from api.openapi.responses import ANALYSED, UNKNOWN_CHAIN, documented
from api.routes.token import (
    ANALYSED_RESPONSES,
    ChainName,
    TokenAddress,
    answer_counted,
    require_chain,
    respond,
)


@get(
    "/token/{chain:str}/{address:str}/evidence",
    guards=[require_key, require_chain],
    security=[{"ApiKey": []}],
    operation_id="getTokenEvidence",
    summary="Proofs behind the findings on one token",
    tags=["tokens"],
    responses={
        200: documented(EvidenceBody, "The proofs, by finding"),
        422: documented(
            Envelope[None] | ValidationBody,
            f"{ANALYSED}an unknown chain gives the validation list",
            unknown_chain=UNKNOWN_CHAIN,
        ),
        500: documented(Envelope[None], "analysis_failed: retry with backoff"),
        **ANALYSED_RESPONSES,
    },
)
async def get_evidence(
    request: Request[Any, Any, Any],
    chain: ChainName,
    address: TokenAddress,
) -> Response[bytes]:
    """Functions, storage slots and program counters; simulated calls as they were sent."""
    return respond(await answer_counted(request, address, "evidence"))
