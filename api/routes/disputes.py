"""Filing of disputes by API and page, and the evidence packs of their analyses."""

from typing import Annotated, Any, Final
from urllib.parse import quote

from litestar import Request, Response, get, post
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, JSONBody, Parameter
from litestar.response import Redirect

from analysis.token.admission import admit_address
from api.auth.keys import caller_of, require_key
from api.auth.limits import KeyLimits
from api.auth.networks import network_of
from api.auth.origins import require_own_page
from api.auth.public_limits import PublicLimits
from api.auth.robots import is_robot
from api.deps import ApiDeps
from api.error_answers import (
    DetailBody,
    InvalidInputError,
    InvalidItem,
    KeyRequiredError,
    LimitedError,
    NotAnalysedError,
    RefusalError,
    StoreDownError,
    ValidationBody,
)
from api.formats.resources.disputes_format import DisputeRequest, DisputeShown, show_dispute
from api.openapi.responses import (
    CALLER_RESPONSES,
    NOT_JSON,
    TOO_LARGE,
    UNKNOWN_CHAIN,
    documented,
    unknown_value,
)
from api.pages.page_rendering import GUARDED
from api.routes.agent_keys import require_json
from api.routes.token import ChainName, TokenAddress, chain_of, require_chain, respond
from api.routes.token_page import account_caller
from api.serving.answers import Answers
from api.serving.dispute_service import DisputeService, DisputesSpentError, NothingToDisputeError
from api.serving.packing import pack_file
from api.sign_in.browser import find_visitor, form_field
from core.errors import StoreError, TokenRefusedError
from core.evm.primitives import Address

_MAX_BODY_BYTES: Final = 16_384
_MOST_NUMBER: Final = (1 << 63) - 1


class NoSuchPackError(RefusalError):
    """The token has no such dispute, or the dispute has no evidence pack."""

    def __init__(self) -> None:
        detail = "This token has no such dispute, or it has no pack."
        super().__init__(status=404, body=DetailBody(detail=detail))


_BAD_ADDRESS: Final = unknown_value(
    "path", "address", message="0x and 40 hex digits.", kind="value_error"
)


@post(
    "/token/{chain:str}/{address:str}/disputes",
    guards=[require_key, require_chain, require_json],
    security=[{"ApiKey": []}],
    status_code=201,
    request_max_body_size=_MAX_BODY_BYTES,
    operation_id="postTokenDispute",
    summary="Ask for a recorded analysis, with a statement",
    tags=["tokens"],
    responses={
        **CALLER_RESPONSES,
        201: documented(DisputeShown, "The dispute, whose analysis has begun"),
        400: NOT_JSON,
        404: documented(DetailBody, "There is no verdict yet", no_verdict=NothingToDisputeError()),
        413: TOO_LARGE,
        422: documented(
            ValidationBody,
            "The chain is unknown, the address is none, or a text is empty, too long or not plain",
            unknown_chain=UNKNOWN_CHAIN,
            no_address=_BAD_ADDRESS,
        ),
        429: documented(
            DetailBody,
            "A limit of the key, or of disputes, is reached",
            burst=LimitedError(detail="Limit of 5 calls in 10 seconds reached.", headers={}),
            disputes_spent=DisputesSpentError(retry_after_s=3_600),
        ),
    },
)
async def file_dispute(
    request: Request[Any, Any, Any],
    chain: ChainName,
    address: TokenAddress,
    data: JSONBody[DisputeRequest],
) -> Response[DisputeShown]:
    """For the team behind a token that finds its verdict wrong.

    The token is analysed once more, with every node call recorded. The statement, the verdicts
    before and after, and the evidence pack are published in the ledger. The statement is no input
    of the analysis: no verdict changes by being disputed. Each day a token has one dispute and a
    key five; a network has three an hour. Counts as one call.
    """
    caller = caller_of(request.scope)
    limits: KeyLimits = request.app.state.limits
    await limits.admit(caller)
    shown = await _file(request, address, data, key_id=caller.key.key_id)
    return Response(shown, status_code=201, headers={"Cache-Control": "no-store"})


@post(
    "/t/{chain:str}/{address:str}/disputes",
    guards=[require_chain, require_own_page],
    request_max_body_size=_MAX_BODY_BYTES,
    status_code=303,
    include_in_schema=False,
)
async def file_on_page(
    request: Request[Any, Any, Any], chain: FromPath[str], address: FromPath[str]
) -> Redirect:
    """File the dispute of a form, and return to the disputes of the token."""
    deps: ApiDeps = request.app.state.deps
    if is_robot(request.headers):
        raise NotAnalysedError
    visitor = await find_visitor(request)
    caller = None if visitor is None else await account_caller(request, visitor)
    if caller is None and not deps.public.is_open:
        raise KeyRequiredError
    data = DisputeRequest(
        sender=await form_field(request, "sender"), statement=await form_field(request, "statement")
    )
    await _file(request, address, data, key_id=None if caller is None else caller.key.key_id)
    path = f"/t/{quote(chain, safe='')}/{quote(address, safe='')}/disputes"
    return Redirect(path, status_code=303, headers=GUARDED)


@get(
    "/token/{chain:str}/{address:str}/disputes/{number:int}/evidence-pack",
    guards=[require_key, require_chain],
    security=[{"ApiKey": []}],
    operation_id="getTokenDisputePack",
    summary="The recorded analysis of a dispute",
    tags=["tokens"],
    responses={
        **CALLER_RESPONSES,
        200: ResponseSpec(
            bytes,
            description="The pack: zstd of JSON, as `assay replay` reads it",
            generate_examples=False,
            media_type="application/zstd",
        ),
        404: documented(DetailBody, "There is none", no_pack=NoSuchPackError()),
        422: documented(
            ValidationBody,
            "The chain is unknown, or the address or the number is none",
            unknown_chain=UNKNOWN_CHAIN,
            no_address=_BAD_ADDRESS,
        ),
    },
)
async def get_dispute_pack(
    request: Request[Any, Any, Any],
    chain: ChainName,
    address: TokenAddress,
    number: Annotated[
        int,
        Parameter(
            description="Number of the dispute",
            ge=1,
            le=_MOST_NUMBER,
            schema_extra={"examples": [12]},
        ),
    ],
) -> Response[bytes]:
    """The evidence pack that was recorded for a dispute. Counts as one call."""
    limits: KeyLimits = request.app.state.limits
    await limits.admit(caller_of(request.scope))
    return await _send_pack(request, address, number)


@get(
    "/t/{chain:str}/{address:str}/disputes/{number:int}/evidence-pack",
    guards=[require_chain],
    include_in_schema=False,
)
async def send_dispute_pack(
    request: Request[Any, Any, Any], address: FromPath[str], number: FromPath[int]
) -> Response[bytes]:
    """The same for visitors, counted as a page."""
    deps: ApiDeps = request.app.state.deps
    if not deps.public.is_open and await find_visitor(request) is None:
        raise KeyRequiredError
    public: PublicLimits = request.app.state.public_limits
    await public.admit_page(network_of(request))
    response = await _send_pack(request, address, number)
    response.headers.update(GUARDED)
    return response


async def _file(
    request: Request[Any, Any, Any], address: str, data: DisputeRequest, *, key_id: int | None
) -> DisputeShown:
    service, slug = _service_of(request), chain_of(request)
    token = _admitted(address)
    public: PublicLimits = request.app.state.public_limits
    await public.admit_dispute(network_of(request))
    answers: Answers = request.app.state.answers
    try:
        found = await service.file(
            chain=answers.chain(slug), address=token, key_id=key_id, request=data
        )
    except TokenRefusedError as error:
        raise NothingToDisputeError from error
    except StoreError as error:
        raise StoreDownError from error
    return show_dispute(slug, found)


async def _send_pack(request: Request[Any, Any, Any], address: str, number: int) -> Response[bytes]:
    slug, answers = chain_of(request), request.app.state.answers
    token = _admitted(address)
    if not 0 < number <= _MOST_NUMBER:
        raise NoSuchPackError
    try:
        body = await _service_of(request).read_pack(
            chain=answers.chain(slug), address=token, number=number
        )
    except StoreError as error:
        raise StoreDownError from error
    if body is None:
        raise NoSuchPackError
    return respond(pack_file(body, name=f"{slug}-{token}-dispute-{number}.pack.zst"))


def _service_of(request: Request[Any, Any, Any]) -> DisputeService:
    service: DisputeService | None = request.app.state.dispute_service
    if service is None:
        raise StoreDownError
    return service


def _admitted(address: str) -> Address:
    try:
        return admit_address(address)
    except TokenRefusedError as error:
        raise InvalidInputError(
            InvalidItem(loc=("path", "address"), msg="0x and 40 hex digits.", type="value_error")
        ) from error
