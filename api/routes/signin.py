"""/login, the issuer's callback, and /logout."""

import asyncio
import hmac
import re
from typing import Any

from litestar import Request, Response, get, post
from litestar.response import Redirect

from api.deps import ApiDeps
from api.error_answers import RefusalError
from api.pages.page_rendering import GUARDED, explain
from api.sign_in.attempt import SignInAttempt
from api.sign_in.browser import (
    attempt_cookie,
    gone_cookie,
    issuer_of,
    require_own_form,
    require_visitor,
    sent_cookie,
    session_cookie,
    session_token,
)
from api.sign_in.issuer import CALLBACK_PATH
from api.sign_in.refusals import AttemptGoneError, DeniedError
from sql.accounts.accounts import Accounts

# Codes of RFC 6749 (4.1.2.1) and its extensions; nothing else is shown on a page.
_ERROR_CODE = re.compile(r"[a-z_]{1,40}")


@get("/login", include_in_schema=False)
async def begin(request: Request[Any, Any, Any]) -> Redirect:
    """Send the browser to the issuer. The page to return to cannot be chosen."""
    issuer = issuer_of(request)
    attempt = SignInAttempt.begin()
    return Redirect(
        await issuer.authorization_url(attempt),
        status_code=307,
        headers=GUARDED,
        cookies=[attempt_cookie(issuer, attempt.secret)],
    )


@get(CALLBACK_PATH, include_in_schema=False)
async def come_back(request: Request[Any, Any, Any]) -> Response[Any]:
    """Callback of the issuer: a code for the person's identity, or a refusal."""
    issuer = issuer_of(request)
    try:
        token = await _sign_in(request)
    except AttemptGoneError:
        raise  # the callback is not of this attempt, which stays valid
    except RefusalError as error:
        answer = explain(request, error)
        answer.set_cookie(gone_cookie(issuer, "attempt"))
        return answer
    return Redirect(
        "/dashboard",
        status_code=303,
        headers=GUARDED,
        cookies=[session_cookie(request, token), gone_cookie(issuer, "attempt")],
    )


@post(
    "/logout",
    guards=[require_visitor, require_own_form],
    status_code=303,
    include_in_schema=False,
)
async def sign_out(request: Request[Any, Any, Any]) -> Redirect:
    """End the session here; the one at the issuer remains."""
    accounts: Accounts = request.app.state.accounts
    token = session_token(request)
    if token is not None:
        await asyncio.to_thread(accounts.sign_out, token)
    cookies = [gone_cookie(issuer_of(request), "session")]
    return Redirect("/", status_code=303, headers=GUARDED, cookies=cookies)


async def _sign_in(request: Request[Any, Any, Any]) -> str:
    """Return the token of a new session. Raises the errors of `api/sign_in/refusals.py`."""
    issuer = issuer_of(request)
    deps: ApiDeps = request.app.state.deps
    accounts: Accounts = request.app.state.accounts
    query = request.query_params
    secret = sent_cookie(request, "attempt")
    if not secret:
        raise AttemptGoneError
    attempt = SignInAttempt(secret=secret)
    if not hmac.compare_digest(query.get("state", "").encode(), attempt.state.encode()):
        raise AttemptGoneError
    if not await issuer.is_from(query.get("iss")):
        raise AttemptGoneError
    code, refusal = query.get("code"), query.get("error")
    if refusal is not None or not code:
        known = _ERROR_CODE.fullmatch(refusal or "")
        raise DeniedError(code=known.group() if known else "no reason that is known")
    identity = await issuer.redeem(code, attempt)
    return await asyncio.to_thread(
        accounts.sign_in,
        issuer=issuer.client.issuer,
        subject=identity.subject,
        shown_as=identity.shown_as,
        now_s=deps.now_s(),
        session_s=deps.sign_in.session_s,
        instead_of=session_token(request),
    )
