"""Browser sessions of signed-in people: cookies, session look-up, and CSRF protection of forms."""

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
from sql.accounts.accounts import Accounts

BrowserConnection = ASGIConnection[Any, Any, Any, Any]

TOKEN_FIELD = "form_token"  # noqa: S105 - the name of the field, not what is in it

_VISITOR = "assay_visitor"


class SignedInUser(msgspec.Struct, frozen=True, kw_only=True):
    """A signed-in person."""

    account_id: int
    shown_as: str
    form_token: str
    """CSRF token in every form of the session: another site can send a form, but does not know
    it."""


def issuer_of(connection: BrowserConnection) -> Issuer:
    """Return the issuer. Raises SignInOffError if none is configured."""
    issuer: Issuer | None = connection.app.state.issuer
    if issuer is None:
        raise SignInOffError
    return issuer


def cookie_name(issuer: Issuer, kind: Literal["session", "attempt"]) -> str:
    """Return the name; over https with the `__Host-` prefix, so that neither sibling domains nor
    plain http can set it."""
    prefix = "__Host-" if issuer.client.is_secure else ""
    return f"{prefix}assay_{kind}"


def session_cookie(connection: BrowserConnection, token: str) -> Cookie:
    """Return the session cookie, valid as long as the session."""
    deps: ApiDeps = connection.app.state.deps
    return _cookie(issuer_of(connection), "session", token, int(deps.sign_in.session_s))


def attempt_cookie(issuer: Issuer, secret: str) -> Cookie:
    """Return the attempt cookie, valid for `ATTEMPT_S`."""
    return _cookie(issuer, "attempt", secret, ATTEMPT_S)


def gone_cookie(issuer: Issuer, kind: Literal["session", "attempt"]) -> Cookie:
    """Return a cookie that deletes the one of this kind."""
    return _cookie(issuer, kind, "", 0)


def _cookie(
    issuer: Issuer, kind: Literal["session", "attempt"], value: str, max_age_s: int
) -> Cookie:
    # Lax, not strict: the redirect back from the issuer is a cross-site navigation.
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
    """Return the session token sent by the browser, not verified; None if there is none."""
    return sent_cookie(connection, "session")


def sent_cookie(connection: BrowserConnection, kind: Literal["session", "attempt"]) -> str | None:
    """Return the cookie of this kind that the browser sent. None: there is none, or it is empty."""
    lines = connection.headers.getall("cookie", [])
    return find_cookie(";".join(lines), cookie_name(issuer_of(connection), kind)) or None


def find_cookie(text: str, name: str) -> str | None:
    """Return the value of a cookie, as it was set; of several the last. None: there is none.

    Ours need no decoding. That of Python's library takes 9 s for a header of 60 kB.
    """
    found = None
    for part in text.split(";"):
        key, _, value = part.partition("=")
        if key.strip() == name:
            found = value.strip()
    return found


async def find_visitor(connection: BrowserConnection) -> SignedInUser | None:
    """Return the signed-in person. None: no valid session, or no issuer is configured. Raises
    StoreError."""
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
    return SignedInUser(
        account_id=session.account_id,
        shown_as=session.shown_as,
        form_token=hmac.digest(token.encode(), b"form", hashlib.sha256).hex(),
    )


async def require_visitor(connection: BrowserConnection, _: BaseRouteHandler) -> None:
    """Guard: require a valid session."""
    issuer_of(connection)
    visitor = await find_visitor(connection)
    if visitor is None:
        raise NotSignedInError
    connection.scope["state"][_VISITOR] = visitor


def visitor_of(connection: BrowserConnection) -> SignedInUser:
    """Return the person found by `require_visitor`."""
    visitor: SignedInUser = connection.scope["state"][_VISITOR]
    return visitor


async def require_own_form(connection: BrowserConnection, _: BaseRouteHandler) -> None:
    """Guard, after `require_visitor`: the form has this session's CSRF token.

    Browsers send the Origin of forms; if present, it has to be ours.
    """
    origin = connection.headers.get("Origin")
    if origin is not None and origin != issuer_of(connection).client.public_url:
        raise ForeignFormError
    sent = await form_field(connection, TOKEN_FIELD)
    if not hmac.compare_digest(sent.encode(), visitor_of(connection).form_token.encode()):
        raise ForeignFormError


async def form_field(connection: BrowserConnection, name: str) -> str:
    """Return one field of the form; empty if it is missing or not text."""
    if not isinstance(connection, Request):
        return ""
    value = (await connection.form()).get(name)
    return value if isinstance(value, str) else ""
