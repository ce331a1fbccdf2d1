"""GET /token/{chain}/{address}/kin: tokens of the same creator, and of look-alike names."""

import asyncio
from typing import Any

from litestar import Request, Response, get

from api.auth.keys import caller_of, require_key
from api.auth.limits import KeyLimits
from api.deps import ApiDeps
from api.error_answers import InvalidInputError, InvalidItem, StoreDownError, ValidationBody
from api.formats.kin_format import KinAnswer, kin_answer
from api.openapi.responses import CALLER_RESPONSES, UNKNOWN_CHAIN, documented, unknown_value
from api.routes.token import ChainName, TokenAddress, chain_of, require_chain
from api.serving.answers import Answers
from core.errors import InvalidAddressError, StoreError
from core.primitives import Address, checksum, parse_address
from sql.kin import find_kin

_NO_ADDRESS = "0x and 40 hex digits."


@get(
    "/token/{chain:str}/{address:str}/kin",
    guards=[require_key, require_chain],
    security=[{"ApiKey": []}],
    operation_id="getTokenKin",
    summary="Tokens of the same creator, and of look-alike names",
    tags=["tokens"],
    responses={
        **CALLER_RESPONSES,
        200: documented(KinAnswer, "The kin"),
        422: documented(
            ValidationBody,
            "The chain is unknown, or the address is none",
            unknown_chain=UNKNOWN_CHAIN,
            no_address=unknown_value("path", "address", message=_NO_ADDRESS, kind="value_error"),
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
    slug = chain_of(request)
    answer = await _answer(request, slug, _parsed(address))
    return Response(answer, headers={"Cache-Control": "no-store"})


async def _answer(request: Request[Any, Any, Any], slug: str, address: Address) -> KinAnswer:
    deps: ApiDeps = request.app.state.deps
    answers: Answers = request.app.state.answers
    if deps.store is None:
        raise StoreDownError
    try:
        found = await asyncio.to_thread(
            find_kin, deps.store, chain_id=answers.chain(slug).id, address=address
        )
    except StoreError as error:
        raise StoreDownError from error
    return kin_answer(chain=slug, address=checksum(address), found=found)


def _parsed(text: str) -> Address:
    try:
        return parse_address(text)
    except InvalidAddressError as error:
        item = InvalidItem(loc=("path", "address"), msg=_NO_ADDRESS, type="value_error")
        raise InvalidInputError(item) from error
