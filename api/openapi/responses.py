"""Entries of the response tables of routes in the OpenAPI document, and the shared ones."""

from typing import Any, Final

import msgspec
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example

from api.error_answers import (
    CallerRefusalBody,
    ChainNotServedError,
    DetailBody,
    InvalidItem,
    KeyExpiredError,
    KeyRequiredError,
    LedgerDownError,
    LifetimeSpentError,
    LimitedError,
    NotJsonError,
    RefusalError,
    UnknownKeyError,
    ValidationBody,
)

_SOME_DAY_S: Final = 1_796_635_800


def documented(
    body: Any, description: str, **examples: RefusalError | msgspec.Struct
) -> ResponseSpec:
    """Return an entry: type and description of the body, and examples by their names.

    A refusal is named by its `error_code`, where it has one.
    """
    shown = [Example(id=name, value=_decoded(each)) for name, each in examples.items()]
    return ResponseSpec(
        body, description=description, generate_examples=False, examples=shown or None
    )


def _decoded(example: RefusalError | msgspec.Struct) -> Any:
    body = example.body if isinstance(example, RefusalError) else example
    return msgspec.json.decode(msgspec.json.encode(body))


def unknown_value(place: str, name: str, *, message: str, kind: str) -> ValidationBody:
    """Return the body for one wrong value in a path, query or body."""
    return ValidationBody(detail=(InvalidItem(loc=(place, name), msg=message, type=kind),))


UNKNOWN_CHAIN: Final = unknown_value(
    "path", "chain", message="Unknown chain; one of ethereum (1).", kind="unknown_chain"
)

ANALYSED: Final = (
    "A token is refused with invalid_address, burn_address, not_a_contract, not_a_token or "
    "invalid_token_data; "
)
"""Beginning of the description of status 422 on routes that analyse a token."""

FAULT: Final = DetailBody(detail="Internal server error.")

MALFORMED: Final = documented(
    DetailBody, "Not a well-formed request", malformed=DetailBody(detail="Bad Request")
)

NOT_JSON: Final = documented(DetailBody, "The body is not JSON", not_json=NotJsonError())

TOO_LARGE: Final = documented(
    DetailBody,
    "The body is too large",
    too_large=DetailBody(detail="Request Entity Too Large"),
)

NO_KEY: Final = documented(
    CallerRefusalBody | DetailBody,
    "No key (api_key_required); a key past its end (api_key_expired); an unknown key",
    api_key_required=KeyRequiredError(),
    api_key_expired=KeyExpiredError(expires_at_s=_SOME_DAY_S),
    unknown_key=UnknownKeyError(),
)

LEDGER_DOWN: Final = documented(
    DetailBody, "The ledger of keys is out of reach", ledger_down=LedgerDownError()
)

CALLER_RESPONSES: Final = {
    400: MALFORMED,
    401: NO_KEY,
    402: documented(
        CallerRefusalBody,
        "A trial key is spent (free_quota_exhausted): never retry",
        free_quota_exhausted=LifetimeSpentError(total=100),
    ),
    429: documented(
        DetailBody,
        "A rate limit or a quota is used up; the headers name it",
        burst=LimitedError(detail="Limit of 5 calls in 10 seconds reached.", headers={}),
        daily_quota=LimitedError(detail="Daily quota used up.", headers={}),
    ),
    503: documented(
        DetailBody,
        "The chain is not served by this deployment; or the ledger of keys is out of reach",
        chain_not_served=ChainNotServedError(slug="chain_8453"),
        ledger_down=LedgerDownError(),
    ),
}
"""Responses of every route that counts a call of a key on a chain."""
