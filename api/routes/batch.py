"""POST /tokens/{chain}: findings on several tokens of one chain in one call."""

from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from litestar import Request, Response, post
from litestar.params import JSONBody

from api.auth.keys import caller_of, require_key
from api.error_answers import RefusalError, ValidationBody
from api.formats.native.compat import CompatFeatures
from api.formats.native.shapes import Envelope, NativeFeatures
from api.formats.shape_building import Shape
from api.formats.summary.summary import Summary
from api.openapi.responses import (
    CALLER_RESPONSES,
    TOO_LARGE,
    UNKNOWN_CHAIN,
    documented,
    unknown_value,
)
from api.routes.agent_keys import MAX_BODY_BYTES, require_json
from api.routes.token import ChainName, chain_of, coding_for, require_chain, respond
from api.serving.batch_service import MOST_TOKENS, BatchOutcome, BatchService, refusal_body
from api.serving.cached_answer import CachedAnswer
from api.serving.packing import pack_once

_OK = 200

Result = TypeVar("Result")


class BatchRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tokens to look up, and the format of the answers."""

    addresses: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MOST_TOKENS)]
    """Token addresses, letter case ignored; each distinct one counts as one call."""
    response_format: Literal["native", "compat", "summary"] = "native"
    """Shape of `results`."""


class BatchError(Shape, frozen=True, kw_only=True):
    """A token that has no result."""

    contract_address: str
    """The address as in the request."""
    status: int
    """HTTP status of the same request on the route for one token."""
    error_code: str | None
    """Stable code, to branch on. None: the status is sufficient."""
    error: str
    """Reason why there is no result, as prose that can change."""
    retry_after_s: int | None
    """Seconds to wait. None: waiting does not help, or the wait is not known."""


class Batch(Shape, Generic[Result], frozen=True, kw_only=True):
    """Each address of the call, once, in one of the three lists."""

    chain: str
    """Slug of the chain, however the request named it."""
    results: tuple[Result, ...]
    """Answers, in the order of the request, in the shape of the route for one token."""
    errors: tuple[BatchError, ...]
    """Tokens without a result, in the order of the request."""
    pending: tuple[str, ...]
    """Addresses whose analysis is not done, or whose answer was too long for this response; request
    them again."""


@post(
    "/tokens/{chain:str}",
    status_code=_OK,
    guards=[require_key, require_chain, require_json],
    security=[{"ApiKey": []}],
    request_max_body_size=MAX_BODY_BYTES,
    operation_id="postTokens",
    summary="Findings on many tokens",
    tags=["tokens"],
    responses={
        200: documented(
            Batch[Envelope[NativeFeatures] | Envelope[CompatFeatures] | Summary],
            "Results, errors and what is pending, apart",
        ),
        413: TOO_LARGE,
        422: documented(
            ValidationBody,
            f"An unknown chain, no address or more than {MOST_TOKENS}, a bad value",
            unknown_chain=UNKNOWN_CHAIN,
            no_address=unknown_value(
                "body", "addresses", message="Expected `array` of length >= 1", kind="value_error"
            ),
        ),
        **CALLER_RESPONSES,
    },
)
async def post_tokens(
    request: Request[Any, Any, Any],
    chain: ChainName,
    data: JSONBody[BatchRequest],
) -> Response[bytes]:
    """Each distinct address counts as one call, in order.

    When a limit is reached in the middle, the tokens before it are answered and counted; those
    after it are under `errors` with status 402 or 429 and cost nothing. The call itself is refused
    only if its first token is. `refresh` is not possible here.
    """
    batch_service: BatchService = request.app.state.batch_service
    slug = chain_of(request)
    outcomes = await batch_service.ask(
        caller_of(request.scope),
        chain=slug,
        addresses=data.addresses,
        form=data.response_format,
    )
    body = msgspec.json.encode(_batch(slug, outcomes))
    return respond(await pack_once(body, coding_for(request)))


def _batch(chain: str, outcomes: list[BatchOutcome]) -> Batch[msgspec.Raw]:
    results, errors, pending = list[msgspec.Raw](), list[BatchError](), list[str]()
    for outcome in outcomes:
        found = outcome.found
        if found == "pending":
            pending.append(outcome.address)
        elif isinstance(found, CachedAnswer) and found.status == _OK:
            results.append(msgspec.Raw(found.body))
        elif isinstance(found, CachedAnswer | RefusalError):
            refusal = msgspec.structs.asdict(refusal_body(found))
            errors.append(BatchError(contract_address=outcome.address, **refusal))
    return Batch(chain=chain, results=tuple(results), errors=tuple(errors), pending=tuple(pending))
