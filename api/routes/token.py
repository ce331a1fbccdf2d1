"""GET /token/{chain}/{address} and its summary."""

from typing import Annotated, Any, Literal

from litestar import Request, Response, get
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.params import Parameter

from api.auth.keys import caller_of, require_key
from api.auth.limits import KeyLimits
from api.error_answers import DetailBody, PlanRequiredError, ValidationBody
from api.formats.native.compat import CompatFeatures
from api.formats.native.shapes import Envelope, NativeFeatures
from api.formats.rendering import Format
from api.formats.summary.summary import Summary
from api.openapi.responses import (
    ANALYSED,
    CALLER_RESPONSES,
    FAULT,
    UNKNOWN_CHAIN,
    documented,
    unknown_value,
)
from api.served_chains import CHAIN_HELP, find_chain
from api.serving.answers import Answers
from api.serving.cached_answer import CachedAnswer
from api.serving.packing import Coding, choose_coding, unless_known

_CHAIN = "assay_chain"

ChainName = Annotated[str, Parameter(description=CHAIN_HELP)]

# The pattern is documentation only: an invalid address is refused in the envelope.
TokenAddress = Annotated[
    str,
    Parameter(
        description="Token address, letter case ignored",
        schema_extra={"pattern": "^0[xX][0-9a-fA-F]{40}$"},
    ),
]


async def require_chain(
    connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
) -> None:
    """Guard: the path names a supported chain, and it is served here."""
    named = connection.path_params["chain"]
    connection.scope["state"][_CHAIN] = find_chain(connection.app.state.deps, named, place="path")


def chain_of(request: Request[Any, Any, Any]) -> str:
    """Return the slug found by `require_chain`."""
    slug: str = request.scope["state"][_CHAIN]
    return slug


def coding_for(request: Request[Any, Any, Any]) -> Coding | None:
    """Return the content coding the caller prefers. None: uncompressed."""
    accepted = request.headers.get("Accept-Encoding")
    return None if accepted is None else choose_coding(accepted.encode("latin-1"))


ANALYSED_RESPONSES = {
    304: documented(None, "The answer is the one that If-None-Match names"),
    **CALLER_RESPONSES,
}
"""Responses of every route that analyses one token."""

_FAILED = "analysis_failed: retry with backoff; or a fault outside of the analysis"

_PLAN_EFFECT = "Needs an enterprise plan or an admin key."


@get(
    "/token/{chain:str}/{address:str}",
    guards=[require_key, require_chain],
    security=[{"ApiKey": []}],
    operation_id="getToken",
    summary="Findings on one token",
    tags=["tokens"],
    responses={
        200: documented(Envelope[NativeFeatures] | Envelope[CompatFeatures], "The findings"),
        403: documented(
            DetailBody,
            "refresh or redecompile without an enterprise plan or an admin key",
            plan_required=PlanRequiredError(),
        ),
        422: documented(
            Envelope[None] | ValidationBody,
            f"{ANALYSED}an unknown chain or query value gives the validation list",
            unknown_chain=UNKNOWN_CHAIN,
            bad_query_value=unknown_value(
                "query", "refresh", message="Expected `bool`", kind="value_error"
            ),
        ),
        500: documented(Envelope[None] | DetailBody, _FAILED, fault=FAULT),
        **ANALYSED_RESPONSES,
    },
)
async def get_token(
    request: Request[Any, Any, Any],
    chain: ChainName,
    address: TokenAddress,
    response_format: Annotated[
        Literal["native", "compat"], Parameter(description="Shape of features")
    ] = "native",
    include_token_price: Annotated[
        bool, Parameter(description="Fill the four price fields")
    ] = False,
    refresh: Annotated[
        bool, Parameter(description=f"Recompute pools and state. {_PLAN_EFFECT}")
    ] = False,
    redecompile: Annotated[
        bool, Parameter(description=f"Run the code analysis again. {_PLAN_EFFECT}")
    ] = False,
) -> Response[bytes]:
    """All findings on one token contract: its code, simulated trades, pools, holders and supply.

    null, an absent key and `pending` mean that it is not known. Repeat the request for `pending`
    after some seconds. Each call counts against the limits of the key.
    """
    if (refresh or redecompile) and not caller_of(request.scope).plan.may_refresh:
        raise PlanRequiredError
    answer = await answer_counted(
        request,
        address,
        response_format,
        is_priced=include_token_price,
        refresh=refresh,
        redecompile=redecompile,
    )
    return respond(answer)


@get(
    "/token/{chain:str}/{address:str}/summary",
    guards=[require_key, require_chain],
    security=[{"ApiKey": []}],
    operation_id="getTokenSummary",
    summary="Verdict on one token",
    tags=["tokens"],
    responses={
        200: documented(Summary, "The verdict and its flags"),
        422: documented(
            Summary | ValidationBody,
            f"{ANALYSED}an unknown chain gives the validation list",
            unknown_chain=UNKNOWN_CHAIN,
        ),
        500: documented(Summary | DetailBody, _FAILED, fault=FAULT),
        **ANALYSED_RESPONSES,
    },
)
async def get_summary(
    request: Request[Any, Any, Any],
    chain: ChainName,
    address: TokenAddress,
) -> Response[bytes]:
    """A compact verdict: one flag for each check, counted by status, and the causes of the verdict.

    Colour a check by its `status`, never by its `value`. A status of `unknown` is no pass."""
    return respond(await answer_counted(request, address, "summary"))


async def answer_counted(
    request: Request[Any, Any, Any],
    address: str,
    form: Format,
    *,
    is_priced: bool = False,
    refresh: bool = False,
    redecompile: bool = False,
) -> CachedAnswer:
    """Count the call against the key's limits, then return the answer, or a 304."""
    limits: KeyLimits = request.app.state.limits
    answers: Answers = request.app.state.answers
    await limits.admit(caller_of(request.scope))
    known = request.headers.get("If-None-Match")
    answer = await answers.answer(
        chain=chain_of(request),
        address=address,
        form=form,
        coding=coding_for(request),
        is_priced=is_priced,
        refresh=refresh,
        redecompile=redecompile,
    )
    return unless_known(answer, None if known is None else known.encode("latin-1"))


def respond(answer: CachedAnswer) -> Response[bytes]:
    """Convert an answer to a response."""
    headers = {name.decode(): value.decode() for name, value in answer.headers}
    return Response(answer.body, status_code=answer.status, headers=headers)
