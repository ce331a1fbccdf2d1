"""GET /token/{chain}/{address}/evidence-pack: a report that others can check on their own node."""

from typing import Any

from litestar import Request, Response, get
from litestar.openapi.datastructures import ResponseSpec

from api.auth.keys import caller_of, require_key
from api.auth.limits import KeyLimits
from api.error_answers import DetailBody, ValidationBody
from api.formats.native.shapes import Envelope
from api.formats.resources.pack_format import pack_name
from api.openapi.responses import CALLER_RESPONSES, UNKNOWN_CHAIN, documented
from api.routes.token import (
    ANALYSED,
    FAULT,
    ChainName,
    TokenAddress,
    chain_of,
    require_chain,
    respond,
)
from api.serving.cached_answer import CachedAnswer
from api.serving.packing import pack_file
from api.serving.quote_answers import answered
from api.serving.quote_service import QuoteService


@get(
    "/token/{chain:str}/{address:str}/evidence-pack",
    guards=[require_key, require_chain],
    security=[{"ApiKey": []}],
    operation_id="getTokenEvidencePack",
    summary="A report that others can check",
    tags=["tokens"],
    responses={
        200: ResponseSpec(
            bytes,
            description="The pack: zstd of JSON, as `assay replay` reads it",
            generate_examples=False,
            media_type="application/zstd",
        ),
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
async def get_evidence_pack(
    request: Request[Any, Any, Any],
    chain: ChainName,
    address: TokenAddress,
) -> Response[bytes]:
    """An analysis made now, as a file: the report, every node call that it was made from, and
    whatever else it was given; signed (EIP-712) where the deployment has a key.

    `assay replay FILE --rpc URL` runs the calls again on any node that has the block. Counts as one
    call."""
    limits: KeyLimits = request.app.state.limits
    quotes: QuoteService = request.app.state.quotes
    await limits.admit(caller_of(request.scope))
    slug = chain_of(request)

    async def ask() -> CachedAnswer:
        file = await quotes.evidence_pack(chain=slug, address=address)
        return pack_file(file.body, name=pack_name(slug, address))

    asked_of = request.app.state.answers.chain(slug)
    return respond(await answered(ask, chain=asked_of, address=address))
