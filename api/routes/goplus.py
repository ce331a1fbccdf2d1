"""/goplus/api/v1: token_security/{chain_id} and token, for clients of the GoPlus Security API.

As in that API, the status is always 200 and `code` has the result: their SDK raises on any other
status, before its caller sees the code.
"""

import hashlib
import hmac
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

import msgspec
import structlog
from litestar import MediaType, Request, Response, get, post
from litestar.exceptions import HTTPException, ValidationException
from litestar.params import JSONBody, Parameter
from litestar.types import ExceptionHandlersMap

from api.auth.keys import caller_of, find_caller, require_key_or_token
from api.deps import ApiDeps
from api.error_answers import (
    ChainNotServedError,
    InvalidInputError,
    KeyExpiredError,
    KeyRequiredError,
    LifetimeSpentError,
    LimitedError,
    NotJsonError,
    RefusalError,
    UnknownKeyError,
)
from api.formats.goplus_format import GoPlusToken
from api.formats.shape_building import Shape
from api.openapi.responses import MALFORMED, documented
from api.routes.agent_keys import MAX_BODY_BYTES, require_json
from api.routes.token import ChainName, chain_of, coding_for, require_chain, respond
from api.serving.batch_service import MOST_TOKENS, BatchOutcome, BatchService, refusal_body
from api.serving.cached_answer import CachedAnswer
from api.serving.packing import pack_once
from core.errors import InvalidAddressError, StoreError
from core.evm.primitives import parse_address
from sql.accounts.ledger import digest_of

_log = structlog.get_logger(__name__)

_OK = 200

_DAY_S = 86_400

_CLOCKS_APART_S = 600
"""Tolerated difference between the client's clock and this machine's; the original's bound is not
published."""

COMPLETE, PARTIAL = 1, 2
APP_KEY_NOT_EXIST, SIGNATURE_EXPIRATION, SIGNATURE_WRONG = 4010, 4011, 4012
ADDRESS_FORMAT, CHAIN_NOT_SUPPORTED, NOT_A_CONTRACT, NO_INFORMATION = 2004, 2018, 2020, 2021
INVALID_TOKEN, TOKEN_NOT_FOUND, TOO_FREQUENT = 4022, 4023, 4029
SERVER_ERROR, PARAMETER_ERROR = 5000, 5006
"""GoPlus codes. Source: `goplus.errorcode` of their Python SDK."""

_CODES: dict[type[Exception], int] = {
    KeyRequiredError: TOKEN_NOT_FOUND,
    UnknownKeyError: INVALID_TOKEN,
    KeyExpiredError: INVALID_TOKEN,
    # Not 4029, which means wait: a spent lifetime quota does not refill.
    LifetimeSpentError: INVALID_TOKEN,
    LimitedError: TOO_FREQUENT,
    NotJsonError: PARAMETER_ERROR,
    InvalidInputError: CHAIN_NOT_SUPPORTED,
    ChainNotServedError: CHAIN_NOT_SUPPORTED,
}
"""Error of the caller -> its code; any other is 5000."""

_REFUSED = {"not_a_contract": NOT_A_CONTRACT, "analysis_failed": SERVER_ERROR}
"""Error code of a token without a result -> its code; any other is 2021."""

Token = TypeVar("Token")


class GoPlusAnswer(Shape, Generic[Token], frozen=True, kw_only=True):
    """Envelope of the tokens."""

    code: int
    """1: complete. 2: something is missing or unfinished; repeat the request. Any other: nothing
    was found, and the reason."""
    message: str
    """`code` as prose."""
    result: dict[str, Token]
    """The tokens by address, in lower case. A token that has no result is absent."""


class AccessTokenRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Body that the clients' `get_access_token` sends."""

    app_key: str
    """An API key of this service."""
    sign: str
    """SHA-1 of app_key, time and app_secret, one after the other, in hex; the secret is the API key
    again."""
    time: int | str
    """Unix seconds of the client's clock."""


class AccessToken(Shape, frozen=True, kw_only=True):
    """Access token to send as Authorization."""

    access_token: str
    """The API key: it needs no exchange, so that nothing else has to be kept."""
    expires_in: int
    """Seconds until it is to be requested again: a day, or until the key ends."""


class GoPlusAccess(Shape, frozen=True, kw_only=True):
    """An answer about an access token."""

    code: int
    """1: here it is. 4010: unknown key. 4011: the time is off. 4012: the signature is wrong."""
    message: str
    """`code` as prose."""
    result: AccessToken | None
    """null: none, see `code`."""


class _ParameterError(Exception):
    """The query parameter is invalid."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code
        self.message = message


def _code_of(request: Request[Any, Any, Any], error: Exception) -> tuple[int, str]:
    if isinstance(error, _ParameterError):
        return error.code, error.message
    if isinstance(error, RefusalError):
        return _CODES.get(type(error), SERVER_ERROR), refusal_body(error).error
    if isinstance(error, HTTPException) and error.status_code < 500:  # noqa: PLR2004 - HTTP's
        return PARAMETER_ERROR, error.detail
    _log.error("request failed", path=request.url.path, exc_info=error)
    return SERVER_ERROR, "Internal server error."


def _handlers(refusal: Callable[[int, str], Shape]) -> ExceptionHandlersMap:
    """Answer any error with `refusal`, which makes the body from a code and its prose."""

    def refuse(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
        code, message = _code_of(request, error)
        return Response(
            msgspec.json.encode(refusal(code, message)),
            status_code=_OK,
            headers=error.headers if isinstance(error, RefusalError) else None,
            media_type=MediaType.JSON,
        )

    # The most specific handler wins, so the application's own ones must be overridden by name.
    overridden = (RefusalError, ValidationException, HTTPException, StoreError, Exception)
    return dict.fromkeys(overridden, refuse)


def _no_tokens(code: int, message: str) -> GoPlusAnswer[GoPlusToken]:
    return GoPlusAnswer(code=code, message=message, result={})


def _no_access(code: int, message: str) -> GoPlusAccess:
    return GoPlusAccess(code=code, message=message, result=None)


@get(
    "/goplus/api/v1/token_security/{chain:str}",
    guards=[require_key_or_token, require_chain],
    security=[{"ApiKey": []}, {"Token": []}],
    exception_handlers=_handlers(_no_tokens),
    operation_id="getGoPlusTokenSecurity",
    summary="Findings in the shape of the GoPlus Security API",
    tags=["tokens"],
    responses={
        200: documented(GoPlusAnswer[GoPlusToken], "The findings, or in `code` why there are none"),
        400: MALFORMED,
    },
)
async def get_token_security(
    request: Request[Any, Any, Any],
    chain: ChainName,
    contract_addresses: Annotated[
        tuple[str, ...],
        Parameter(
            description=f"Up to {MOST_TOKENS} addresses, separated by commas, or the key repeated"
        ),
    ] = (),
) -> Response[bytes]:
    """The key comes as X-API-Key or as Authorization, with or without `Bearer`.

    Each distinct address counts as one call. Codes: 1 complete, 2 partial (repeat the request for
    the rest), 2004 bad address, 2018 unknown chain, 2020 no contract, 2021 no token, 4022 key not
    valid or spent, 4023 no key, 4029 limit, 5000 our failure, 5006 bad parameter.
    """
    batch_service: BatchService = request.app.state.batch_service
    addresses = _read_addresses(contract_addresses)
    outcomes = await batch_service.ask(
        caller_of(request.scope), chain=chain_of(request), addresses=addresses, form="goplus"
    )
    body = msgspec.json.encode(_answer(outcomes))
    return respond(await pack_once(body, coding_for(request)))


def _read_addresses(texts: Sequence[str]) -> list[str]:
    """Return the addresses in lower case. Raises _ParameterError, before anything is counted."""
    listed = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    if not 0 < len(listed) <= MOST_TOKENS:
        message = f"contract_addresses takes 1 to {MOST_TOKENS} addresses, separated by commas."
        raise _ParameterError(PARAMETER_ERROR, message)
    try:
        return [parse_address(address) for address in listed]
    except InvalidAddressError as error:
        raise _ParameterError(ADDRESS_FORMAT, error.reason) from error


def _answer(outcomes: list[BatchOutcome]) -> GoPlusAnswer[msgspec.Raw]:
    result: dict[str, msgspec.Raw] = {}
    missing: list[tuple[int, str]] = []
    is_complete = True
    for outcome in outcomes:
        found = outcome.found
        if isinstance(found, CachedAnswer) and found.status == _OK:
            result[outcome.address] = msgspec.Raw(found.body)
            is_complete &= found.is_final
        elif isinstance(found, CachedAnswer):
            refusal = refusal_body(found)
            code = _REFUSED.get(refusal.error_code or "", NO_INFORMATION)
            missing.append((code, refusal.error))
            is_complete &= code != SERVER_ERROR
        else:
            is_complete = False
    if not is_complete and (result or len(missing) < len(outcomes)):
        return GoPlusAnswer(code=PARTIAL, message="Partial data. Request it again.", result=result)
    if missing and not result:
        code, message = max(missing)  # prefer a failure on this side over permanent errors
        return GoPlusAnswer(code=code, message=message, result={})
    return GoPlusAnswer(code=COMPLETE, message="OK", result=result)


@post(
    "/goplus/api/v1/token",
    operation_id="postGoPlusToken",
    status_code=_OK,
    guards=[require_json],
    request_max_body_size=MAX_BODY_BYTES,
    exception_handlers=_handlers(_no_access),
    summary="Access token for clients of the GoPlus Security API",
    tags=["keys"],
    responses={
        200: documented(GoPlusAccess, "The token, or in `code` why there is none"),
        400: MALFORMED,
    },
)
async def post_token(
    request: Request[Any, Any, Any], data: JSONBody[AccessTokenRequest]
) -> Response[GoPlusAccess]:
    """For clients that fetch an access token first, with the API key as app key and as app secret.

    Not needed: the key itself is an access token. Costs no call.
    """
    deps: ApiDeps = request.app.state.deps
    now_s = deps.now_s()
    if not _is_about(str(data.time), now_s):
        return Response(
            _no_access(SIGNATURE_EXPIRATION, "The time differs from the service's clock.")
        )
    signed = f"{data.app_key}{data.time}{data.app_key}".encode()
    wanted = hashlib.sha1(signed, usedforsecurity=False).hexdigest()
    if not hmac.compare_digest(wanted.encode(), data.sign.lower().encode()):
        return Response(
            _no_access(SIGNATURE_WRONG, "Use the API key both as app key and as app secret.")
        )
    try:
        caller = await find_caller(request, digest_of(data.app_key))
    except (UnknownKeyError, KeyExpiredError) as error:
        return Response(_no_access(APP_KEY_NOT_EXIST, refusal_body(error).error))
    ends_at_s = caller.key.expires_at_s
    left_s = _DAY_S if ends_at_s is None else min(_DAY_S, ends_at_s - int(now_s))
    token = AccessToken(access_token=data.app_key, expires_in=left_s)
    return Response(
        GoPlusAccess(code=COMPLETE, message="OK", result=token),
        headers={"Cache-Control": "no-store"},
    )


def _is_about(time: str, now_s: float) -> bool:
    is_number = time.isascii() and time.isdigit() and len(time) < len(str(2**64))
    return is_number and abs(int(time) - now_s) <= _CLOCKS_APART_S
