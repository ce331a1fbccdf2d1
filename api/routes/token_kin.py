"""GET /token/{chain}/{address}/kin: tokens of alike code, of the same creator, of alike names."""

from typing import Any

from litestar import Request, Response, get

from api.auth.keys import caller_of, require_key
from api.auth.limits import KeyLimits
from api.error_answers import ValidationBody
from api.formats.resources.kin_format import KinAnswer
from api.openapi.responses import CALLER_RESPONSES, UNKNOWN_CHAIN, documented, unknown_value
from api.routes.token import ChainName, TokenAddress, chain_of, require_chain
from api.serving.kin_service import NO_ADDRESS, read_kin


@get(
    "/token/{chain:str}/{address:str}/kin",
    guards=[require_key, require_chain],
    security=[{"ApiKey": []}],
    operation_id="getTokenKin",
    summary="Tokens of the same or similar code, of the same creator, and of look-alike names",
    tags=["tokens"],
    responses={
        **CALLER_RESPONSES,
        200: documented(KinAnswer, "The kin"),
        422: documented(
            ValidationBody,
            "The chain is unknown, or the address is none",
            unknown_chain=UNKNOWN_CHAIN,
            no_address=unknown_value("path", "address", message=NO_ADDRESS, kind="value_error"),
        ),
    },
)
async def get_kin(
    request: Request[Any, Any, Any],
    chain: ChainName,
    address: TokenAddress,
) -> Response[KinAnswer]:
    """Among the analysed tokens of the chain, and how those ended: verdict and sale of their last
    reports. Nothing is analysed for it, and kin are no verdict. Counts as one call."""
    limits: KeyLimits = request.app.state.limits
    await limits.admit(caller_of(request.scope))
    state = request.app.state
    answer = await read_kin(
        state.deps, state.answers, chain=chain_of(request), address=address, asked_in="path"
    )
    return Response(answer, headers={"Cache-Control": "no-store"})
