"""/dashboard: HTML pages to create, view and revoke the keys of an account."""

import asyncio
from typing import Any

import msgspec
from litestar import Request, Response, get, post
from litestar.params import FromPath
from litestar.response import Redirect

from api.deps import ApiDeps
from api.error_answers import InvalidInputError, InvalidItem, StoreDownError
from api.pages.page_rendering import GUARDED, explain, page, wants_page
from api.sign_in.browser import form_field, require_own_form, require_visitor, visitor_of
from api.sign_in.refusals import (
    NoSuchKeyError,
    NotSignedInError,
    TooManyKeysError,
    TooManyNewKeysError,
)
from api.watches.watch_book import WatchBook
from api.watches.watch_shapes import WatchView
from sql.accounts.accounts import MOST_LIVE_KEYS, AccountKey, Accounts, TooManyKeys, TooManyNewKeys
from sql.accounts.ledger import Usage

PLAN = "developer"
"""Plan of keys that users create themselves; only the operator gives others."""

MOST_LABEL_CHARS = 100

_MAX_BODY_BYTES = 16_384

_NOTHING = Usage(lifetime=0, day=0, month=0)


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    """One key as shown on the page."""

    key: AccountKey
    usage: Usage
    state: str


def to_sign_in(request: Request[Any, Any, Any], error: NotSignedInError) -> Response[Any]:
    """Redirect browsers without a session to sign in; answer programs with the error."""
    if wants_page(request):
        return Redirect("/login", status_code=303, headers=GUARDED)
    return explain(request, error)


@get(
    "/dashboard",
    guards=[require_visitor],
    exception_handlers={NotSignedInError: to_sign_in},
    include_in_schema=False,
)
async def show(request: Request[Any, Any, Any]) -> Response[str]:
    """Keys and their usage, at most about a second old."""
    deps: ApiDeps = request.app.state.deps
    accounts: Accounts = request.app.state.accounts
    visitor = visitor_of(request)
    now_s = deps.now_s()
    keys = await asyncio.to_thread(accounts.list_keys, visitor.account_id, now_s)
    usages = await asyncio.to_thread(accounts.usage_of, keys, now_s)
    rows = [
        _Row(key=key, usage=usages.get(key.key_id, _NOTHING), state=_state(key, now_s))
        for key in keys
    ]
    return page(
        "dashboard.html",
        visitor=visitor,
        rows=rows,
        plan=deps.plans[PLAN],
        live=sum(row.state == "live" for row in rows),
        most=MOST_LIVE_KEYS,
        most_label_chars=MOST_LABEL_CHARS,
        watches=await _watches(request, keys),
        chains=[chain for chain in deps.chains if chain.slug in deps.served],
        is_operator=deps.jobs is not None
        and await asyncio.to_thread(accounts.is_operator, visitor.account_id, now_s),
    )


@post(
    "/dashboard/keys",
    guards=[require_visitor, require_own_form],
    request_max_body_size=_MAX_BODY_BYTES,
    include_in_schema=False,
)
async def create(request: Request[Any, Any, Any]) -> Response[str]:
    """A new key, shown once on the resulting page."""
    deps: ApiDeps = request.app.state.deps
    accounts: Accounts = request.app.state.accounts
    label = (await form_field(request, "label")).strip()
    if len(label) > MOST_LABEL_CHARS or not label.isprintable():
        message = f"A label has at most {MOST_LABEL_CHARS} characters, all of them printable."
        raise InvalidInputError(InvalidItem(loc=("body", "label"), msg=message, type="value_error"))
    made = await asyncio.to_thread(
        accounts.create_key,
        visitor_of(request).account_id,
        deps.plans[PLAN],
        label,
        deps.now_s(),
    )
    if isinstance(made, TooManyKeys):
        raise TooManyKeysError
    if isinstance(made, TooManyNewKeys):
        raise TooManyNewKeysError(retry_after_s=made.retry_after_s)
    return page("created.html", status=201, plaintext=made.plaintext, key=made.row)


@post(
    "/dashboard/keys/{key_id:int}/revoke",
    guards=[require_visitor, require_own_form],
    request_max_body_size=_MAX_BODY_BYTES,
    status_code=303,
    include_in_schema=False,
)
async def revoke(request: Request[Any, Any, Any], key_id: FromPath[int]) -> Redirect:
    """End one of the account's own keys, at once."""
    deps: ApiDeps = request.app.state.deps
    accounts: Accounts = request.app.state.accounts
    account_id = visitor_of(request).account_id
    is_known = key_id < 1 << 63  # the range of row ids
    if not is_known or not await asyncio.to_thread(
        accounts.revoke, account_id, key_id, deps.now_s()
    ):
        raise NoSuchKeyError
    return Redirect("/dashboard", status_code=303, headers=GUARDED)


async def _watches(
    request: Request[Any, Any, Any], keys: list[AccountKey]
) -> list[WatchView] | None:
    """Return the watches of the keys. None: they cannot be read, which hides no key."""
    watch_book: WatchBook | None = request.app.state.watch_book
    try:
        return (
            None if watch_book is None else await watch_book.list_views(key.key_id for key in keys)
        )
    except StoreDownError:
        return None


def _state(key: AccountKey, now_s: float) -> str:
    if key.is_live(now_s):
        return "live"
    return "revoked" if key.revoked_at_s is not None else "expired"
