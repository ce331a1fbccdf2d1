"""GET /token/{chain}/{address} and its summary."""

from typing import Annotated, Any, Literal

from litestar import Request, Response, get
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.params import Parameter

from api.answers import Answers
from api.cache import Answer
from api.compat import CompatFeatures
from api.errors import (
    CallerRefusalBody,
    ChainNotServedError,
    DetailBody,
    InvalidInputError,
    InvalidItem,
    PlanRequiredError,
    ValidationBody,
    documented,
)
from api.keys import caller_of, require_key
from api.limits import Limits
from api.packing import choose_coding, unless_known
from api.render import Format
from api.service import ApiDeps
from api.shapes import Envelope, NativeFeatures
from api.summary import Summary

_CHAIN = "assay_chain"

ChainName = Annotated[str, Parameter(description="Slug or numeric chain id")]

# The pattern is for readers of the document: what is no address is refused in the envelope.
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
    """Guard: the path names a supported chain by slug or id, and it is served here."""
    deps: ApiDeps = connection.app.state.deps
    named = connection.path_params["chain"]
    slug = next((c.slug for c in deps.chains if named in (c.slug, str(c.id))), None)
    if slug is None:
        known = ", ".join(f"{c.slug} ({c.id})" for c in deps.chains)
        raise InvalidInputError(
            InvalidItem(
                loc=("path", "chain"), msg=f"Unknown chain; one of {known}.", type="unknown_chain"
            )
        )
    if slug not in deps.served:
        raise ChainNotServedError(slug=slug)
    connection.scope["state"][_CHAIN] = slug


_CALLER_RESPONSES = {
    304: documented(None, "The answer is the one that If-None-Match names"),
    400: documented(DetailBody, "Not a well-formed request"),
    401: documented(
        CallerRefusalBody | DetailBody,
        "No key (api_key_required), key past its end (api_key_expired), unknown key",
    ),
    402: documented(CallerRefusalBody, "free_quota_exhausted: never retry"),
    429: documented(DetailBody, "A rate limit or quota; the headers tell which"),
    503: documented(
        DetailBody, "Chain not served by this deployment; or the ledger of keys is out of reach"
    ),
}

_ANALYSED = (
    "A token is refused with invalid_address, burn_address, not_a_contract, not_a_token or "
    "invalid_token_data; "
)

_FAILED = "analysis_failed: retry with backoff; or a fault outside of the analysis"

_PLAN_EFFECT = "Needs an enterprise plan or an admin key."


@get(
    "/token/{chain:str}/{address:str}",
    guards=[require_key, require_chain],
    security=[{"ApiKey": []}],
    summary="Findings on one token",
    tags=["tokens"],
    responses={
        200: documented(Envelope[NativeFeatures] | Envelope[CompatFeatures], "The findings"),
        403: documented(DetailBody, "refresh or redecompile without such a plan"),
        422: documented(
            Envelope[None] | ValidationBody,
            f"{_ANALYSED}an unknown chain or query value gives the validation list",
        ),
        500: documented(Envelope[None] | DetailBody, _FAILED),
        **_CALLER_RESPONSES,
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
    """Everything known about one token contract."""
    if (refresh or redecompile) and not caller_of(request.scope).plan.may_refresh:
        raise PlanRequiredError
    answer = await _answer(
        request,
        address,
        response_format,
        is_priced=include_token_price,
        refresh=refresh,
        redecompile=redecompile,
    )
    return _response(answer)


@get(
    "/token/{chain:str}/{address:str}/summary",
    guards=[require_key, require_chain],
    security=[{"ApiKey": []}],
    summary="Verdict on one token",
    tags=["tokens"],
    responses={
        200: documented(Summary, "The verdict and its flags"),
        422: documented(
            Summary | ValidationBody,
            f"{_ANALYSED}an unknown chain gives the validation list",
        ),
        500: documented(Summary | DetailBody, _FAILED),
        **_CALLER_RESPONSES,
    },
)
async def get_summary(
    request: Request[Any, Any, Any],
    chain: ChainName,
    address: TokenAddress,
) -> Response[bytes]:
    """A compact verdict with counted flags."""
    return _response(await _answer(request, address, "summary"))


async def _answer(
    request: Request[Any, Any, Any],
    address: str,
    form: Format,
    *,
    is_priced: bool = False,
    refresh: bool = False,
    redecompile: bool = False,
) -> Answer:
    """Count the call against the key's limits, then answer it, in full or by a 304."""
    limits: Limits = request.app.state.limits
    answers: Answers = request.app.state.answers
    await limits.admit(caller_of(request.scope))
    accepted = request.headers.get("Accept-Encoding")
    known = request.headers.get("If-None-Match")
    answer = await answers.answer(
        chain=request.scope["state"][_CHAIN],
        address=address,
        form=form,
        coding=None if accepted is None else choose_coding(accepted.encode("latin-1")),
        is_priced=is_priced,
        refresh=refresh,
        redecompile=redecompile,
    )
    return unless_known(answer, None if known is None else known.encode("latin-1"))


def _response(answer: Answer) -> Response[bytes]:
    headers = {name.decode(): value.decode() for name, value in answer.headers}
    return Response(answer.body, status_code=answer.status, headers=headers)
