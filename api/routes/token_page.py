"""/t/{chain}/{address}: an HTML page with the verdict on a token.

An analysis costs node requests, so a look-up counts on a key, as the same request by a program
does: a key of the signed-in account, one typed into the page's form, or one in the header. A link
to the page can be shared; whoever opens it needs a key.
"""

import asyncio
from typing import Any
from urllib.parse import quote

import msgspec
from litestar import Request, Response, get, post
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect

from api.auth.keys import KEY_HEADER, Caller, find_caller
from api.auth.limits import KeyLimits
from api.deps import ApiDeps
from api.error_answers import KeyRequiredError
from api.formats.summary import Summary
from api.pages.page_rendering import GUARDED, page
from api.routes.token import chain_of, require_chain
from api.serving.answers import Answers
from api.sign_in.browser import SignedInUser, find_visitor, form_field
from api.sign_in.refusals import NoKeyToChargeError
from sql.accounts import Accounts
from sql.ledger import digest_of

_MAX_BODY_BYTES = 16_384
_MOST_KEY_CHARS = 200


class _Named(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    symbol: str


class _Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of the native answer that the page shows."""

    features: _Named | None


@get("/t", include_in_schema=False)
async def look_up(chain: FromQuery[str] = "", address: FromQuery[str] = "") -> Redirect:
    """From the form of the pages to the page of the token."""
    path = f"/t/{quote(chain, safe='')}/{quote(address.strip(), safe='')}"
    return Redirect(path if chain and address.strip() else "/", status_code=303, headers=GUARDED)


@get("/t/{chain:str}/{address:str}", guards=[require_chain], include_in_schema=False)
async def show_token(
    request: Request[Any, Any, Any], chain: FromPath[str], address: FromPath[str]
) -> Response[str]:
    """The verdict, if a key comes with the call or with the session; else a form that asks."""
    visitor = await find_visitor(request)
    text = request.headers.get(KEY_HEADER, "").strip()
    if text:
        return await _judge(request, await find_caller(request, digest_of(text)), address, visitor)
    if visitor is not None:
        return await _judge(request, await _charged(request, visitor), address, visitor)
    can_sign_in = request.app.state.issuer is not None
    return page("ask.html", chain=chain, address=address, can_sign_in=can_sign_in)


@post(
    "/t/{chain:str}/{address:str}",
    guards=[require_chain],
    request_max_body_size=_MAX_BODY_BYTES,
    status_code=200,
    include_in_schema=False,
)
async def show_token_for_key(
    request: Request[Any, Any, Any], address: FromPath[str]
) -> Response[str]:
    """The verdict, counted on the key in the form. The key is kept nowhere."""
    text = (await form_field(request, "api_key")).strip()
    if not text:
        raise KeyRequiredError
    caller = await find_caller(request, digest_of(text[:_MOST_KEY_CHARS]))
    return await _judge(request, caller, address, await find_visitor(request))


async def _charged(request: Request[Any, Any, Any], visitor: SignedInUser) -> Caller:
    """Return the caller of the account's oldest live key."""
    deps: ApiDeps = request.app.state.deps
    accounts: Accounts = request.app.state.accounts
    now_s = deps.now_s()
    keys = await asyncio.to_thread(accounts.list_keys, visitor.account_id, now_s)
    live = [key for key in keys if key.is_live(now_s)]
    if not live:
        raise NoKeyToChargeError
    return await find_caller(request, live[-1].digest)


async def _judge(
    request: Request[Any, Any, Any], caller: Caller, address: str, visitor: SignedInUser | None
) -> Response[str]:
    limits: KeyLimits = request.app.state.limits
    answers: Answers = request.app.state.answers
    await limits.admit(caller)
    slug = chain_of(request)
    answer = await answers.answer(chain=slug, address=address, form="summary")
    summary = msgspec.json.decode(answer.body, type=Summary)
    named = None
    if summary.verdict is not None:
        native = await answers.answer(chain=slug, address=address, form="native")
        named = msgspec.json.decode(native.body, type=_Envelope).features
    return page(
        "token.html",
        status=answer.status,
        summary=summary,
        named=named,
        visitor=visitor,
    )
