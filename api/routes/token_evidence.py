"""GET /token/{chain}/{address}/evidence: the evidence behind the findings."""

from typing import Annotated, Any

from litestar import Request, Response, get
from litestar.params import Parameter

from api.auth.keys import require_key
from api.error_answers import ValidationBody, documented
from api.formats.rendering import EvidenceBody
from api.formats.shapes import Envelope
from api.routes.token import (
    ANALYSED,
    CALLER_RESPONSES,
    ChainName,
    answer_counted,
    require_chain,
    respond,
)


@get(
    "/token/{chain:str}/{address:str}/evidence",
    guards=[require_key, require_chain],
    security=[{"ApiKey": []}],
    summary="Proofs behind the findings on one token",
    tags=["tokens"],
    responses={
        200: documented(EvidenceBody, "The proofs, by finding"),
        422: documented(
            Envelope[None] | ValidationBody,
            f"{ANALYSED}an unknown chain gives the validation list",
        ),
        500: documented(Envelope[None], "analysis_failed: retry with backoff"),
        **CALLER_RESPONSES,
    },
)
async def get_evidence(
    request: Request[Any, Any, Any],
    chain: ChainName,
    address: Annotated[str, Parameter(description="Token address, letter case ignored")],
) -> Response[bytes]:
    """Functions, storage slots and program counters; simulated calls as they were sent."""
    return respond(await answer_counted(request, address, "evidence"))
