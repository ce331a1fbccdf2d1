"""A browser that somebody is signed in with: its cookies, its session, the forms it may send."""

import asyncio
import hashlib
import hmac
from typing import Any, Literal

import msgspec
from litestar import Request
from litestar.connection import ASGIConnection
from litestar.datastructures import Cookie
from litestar.handlers import BaseRouteHandler

from api.deps import ApiDeps
from api.sign_in.attempt import ATTEMPT_S
from api.sign_in.issuer import Issuer
from api.sign_in.refusals import ForeignFormError, NotSignedInError, SignInOffError
from sql.accounts import Accounts

BrowserConnection = ASGIConnection[Any, Any, Any, Any]

TOKEN_FIELD = "form_token"  # noqa: S105 - the name of the field, not what is in it

_VISITOR = "assay_visitor"


class Visitor(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who is signed in."""

    account_id: int
    shown_as: str
    form_token: str
    """In every form of the session: another site can send a form, but does not know this."""


def issuer_of(connection: BrowserConnection) -> Issuer:
    """Raises SignInOffError where there is none."""
    issuer: Issuer | None = connection.app.state.issuer
    if issuer is None:
        raise SignInOffError
    return issuer


def cookie_name(issuer: Issuer, kind: Literal["session", "attempt"]) -> str:
    """With the prefix that makes browsers refuse it from neighbours and over plain http."""
    prefix = "__Host-" if issuer.client.is_secure else ""
    return f"{prefix}assay_{kind}"


def session_cookie(connection: BrowserConnection, token: str) -> Cookie:
    """For as long as the session."""
    deps: ApiDeps = connection.app.state.deps
    return _cookie(issuer_of(connection), "session", token, int(deps.sign_in.session_s))


def attempt_cookie(issuer: Issuer, secret: str) -> Cookie:
    """For as long as a person may take at the issuer."""
    return _cookie(issuer, "attempt", secret, ATTEMPT_S)


def gone_cookie(issuer: Issuer, kind: Literal["session", "attempt"]) -> Cookie:
    """Has the browser forget it."""
    return _cookie(issuer, kind, "", 0)


def _cookie(
    issuer: Issuer, kind: Literal["session", "attempt"], value: str, max_age_s: int
) -> Cookie:
    # Lax and not strict: the way back from the issuer counts as coming from another site.
    return Cookie(
        key=cookie_name(issuer, kind),
        value=value,
        max_age=max_age_s,
        path="/",
        httponly=True,
        secure=issuer.client.is_secure,
        samesite="lax",
    )


def session_token(connection: BrowserConnection) -> str | None:
    """The token that the browser sends, be it worth something or not."""
    return connection.cookies.get(cookie_name(issuer_of(connection), "session")) or None


async def find_visitor(connection: BrowserConnection) -> Visitor | None:
    """Who is signed in. None: nobody, or nobody can be. Raises StoreError."""
    if connection.app.state.issuer is None:
        return None
    token = session_token(connection)
    if token is None:
        return None
    deps: ApiDeps = connection.app.state.deps
    accounts: Accounts = connection.app.state.accounts
    session = await asyncio.to_thread(
        accounts.find_session,
        token,
        issuer=issuer_of(connection).client.issuer,
        now_s=deps.now_s(),
    )
    if session is None:
        return None
    return Visitor(
        account_id=session.account_id,
        shown_as=session.shown_as,
        form_token=hmac.digest(token.encode(), b"form", hashlib.sha256).hex(),
    )


async def require_visitor(connection: BrowserConnection, _: BaseRouteHandler) -> None:
    """Guard: somebody is signed in."""
    issuer_of(connection)
    visitor = await find_visitor(connection)
    if visitor is None:
        raise NotSignedInError
    connection.scope["state"][_VISITOR] = visitor


def visitor_of(connection: BrowserConnection) -> Visitor:
    """Who `require_visitor` found."""
    visitor: Visitor = connection.scope["state"][_VISITOR]
    return visitor


async def require_own_form(connection: BrowserConnection, _: BaseRouteHandler) -> None:
    """Guard, after `require_visitor`: the form is one that this session was given.

    Browsers name the origin of every form they send; where one does, it has to be ours.
    """
    origin = connection.headers.get("Origin")
    if origin is not None and origin != issuer_of(connection).client.public_url:
        raise ForeignFormError
    sent = await form_field(connection, TOKEN_FIELD)
    if not hmac.compare_digest(sent.encode(), visitor_of(connection).form_token.encode()):
        raise ForeignFormError


async def form_field(connection: BrowserConnection, name: str) -> str:
    """One field of the form; empty where it is not sent, or is no text."""
    if not isinstance(connection, Request):
        return ""
    value = (await connection.form()).get(name)
    return value if isinstance(value, str) else ""
