"""Calls that no document describes: any method and body on any path of any route or page.

Some of them carry a session, at an issuer that does not answer.
"""

import hashlib
import hmac
import json
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import msgspec
from hypothesis import strategies as st

from config.sign_in import OidcClient
from sql.accounts.accounts import Accounts
from tests.harness.api.routes import ROUTES
from tests.harness.api.sample_reports import MINED_AT_S, TOKEN
from tests.harness.api.world import World

NOBODY = OidcClient(
    issuer="http://127.0.0.1:1",
    client_id="assay",
    client_secret=None,
    public_url="http://localhost:8000",
)

_METHODS = ("GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "BREW")

_TOOLS = (
    "check_token",
    "token_report",
    "token_evidence",
    "quote_exit",
    "hook_dossier",
    "liquidity_holders",
    "evidence_pack",
    "check_trade",
    "token_kin",
    "list_chains",
    "usage",
    "nothing",
)

_words = st.sampled_from(["1", "ethereum", TOKEN, "0x", "true", "compat", "a" * 300, ""])
_texts = _words | st.text(max_size=12)
_FIELDS = """
    chain address addresses contract_addresses response_format refresh include_token_price
    code state iss error label api_key form_token reason contact usd amount
    side amount_raw router sender calldata value_wei pays_with
"""
_names = st.sampled_from(_FIELDS.split())
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _texts,
    lambda some: st.lists(some, max_size=3) | st.dictionaries(_names | _texts, some, max_size=3),
    max_leaves=6,
)
_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"

_RIGHT: dict[str, tuple[str, bytes]] = {
    "/tokens/1": (_JSON, json.dumps({"addresses": [TOKEN, "0x12"]}).encode()),
    f"/token/1/{TOKEN}/trade-check": (
        _JSON,
        json.dumps(
            {"side": "sell", "amount_raw": "1", "router": "Uniswap V2", "sender": TOKEN}
        ).encode(),
    ),
    "/agent-keys": (_JSON, b'{"reason": "a"}'),
    "/mcp": (_JSON, b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'),
    "/logout": (_FORM, b"form_token=FORM-TOKEN"),
    "/dashboard/keys": (_FORM, b"form_token=FORM-TOKEN&label=a"),
    f"/t/1/{TOKEN}": (_FORM, b"api_key=ADMIN-KEY"),
}
"""Body that each route accepts."""

_arguments = st.fixed_dictionaries(
    {}, optional={"chain": _texts, "address": _texts, "response_format": _texts}
)
_tool_calls = st.builds(
    lambda method, name, arguments: {
        "jsonrpc": "2.0",
        "id": 1,
        "method": method,
        "params": {"name": name, "arguments": arguments},
    },
    st.sampled_from(["tools/call", "tools/call", "tools/list", "ping", "initialize", "nothing"]),
    st.sampled_from(_TOOLS),
    _arguments | _json,
)


class WildCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call."""

    route: tuple[str, str]
    """Entry of the route table; the method may be another, the path may be spoiled."""
    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    is_signed_in: bool


class SignedIn:
    """Session from before the issuer stopped answering, renewed when it ends."""

    def __init__(self, world: World):
        self._accounts = Accounts(world.ledger)
        self._key = world.new_key()
        self.sign_in()

    def sign_in(self) -> None:
        """Open a session."""
        token = self._accounts.sign_in(
            issuer=NOBODY.issuer,
            subject="somebody",
            shown_as="somebody",
            now_s=MINED_AT_S,
            session_s=86_400,
            instead_of=None,
        )
        self.cookie = f"assay_session={token}"
        self.form_token = hmac.digest(token.encode(), b"form", hashlib.sha256).hex()

    def fill(self, body: bytes) -> bytes:
        """The body with the session's own form token, and a key that opens."""
        body = body.replace(b"FORM-TOKEN", self.form_token.encode())
        return body.replace(b"ADMIN-KEY", self._key.encode())


def wild_calls() -> st.SearchStrategy[WildCall]:
    """Draw calls, half of them on the right path by the right method, with a matching body."""
    bodies: st.SearchStrategy[tuple[str, bytes]] = (
        st.dictionaries(_names, _texts, max_size=3).map(
            lambda form: (
                _FORM,
                urlencode({"form_token": "FORM-TOKEN", **form}, errors="replace").encode(),
            )
        )
        | (_tool_calls | _json).map(lambda value: (_JSON, json.dumps(value).encode()))
        | st.tuples(
            st.sampled_from([_JSON, "text/plain", "multipart/form-data; boundary=a"]),
            st.binary(max_size=40) | st.just(b"a" * 70_000),
        )
    )

    @st.composite
    def call(draw: st.DrawFn) -> WildCall:
        method, target = route = draw(st.sampled_from(ROUTES))
        path, _, query = target.partition("?")
        if draw(st.booleans()):
            method = draw(st.sampled_from(_METHODS))
            parts = path.split("/")
            parts[draw(st.integers(1, len(parts) - 1))] = quote(
                draw(_texts).encode("utf-8", "replace"), safe=""
            )
            path = "/".join(parts)
        if draw(st.booleans()):
            query = urlencode(
                draw(st.lists(st.tuples(_names, _texts), max_size=4)), errors="replace"
            )
        kind, body = draw(bodies)
        if draw(st.booleans()):
            kind, body = _RIGHT.get(target, (kind, body))
        accept = draw(st.sampled_from(["application/json", "text/html", "*/*", ""]))
        return WildCall(
            route=route,
            method=method,
            target=f"{path}?{query}",
            headers={"Content-Type": kind, "Accept": accept},
            body=body if draw(st.booleans()) or method != "GET" else b"",
            is_signed_in=draw(st.booleans()),
        )

    return call()


def check_wild(call: WildCall, response: httpx.Response) -> None:
    """Assert the invariants of every answer. Raises AssertionError."""
    body, kind = response.content, response.headers.get("content-type", "")
    assert b"Traceback" not in body, call
    if call.method == "HEAD" or response.status_code in (204, 304):
        assert body == b"", call
    elif response.status_code >= 400 and "text/html" not in kind:
        decoded: Any = response.json()
        assert kind.startswith("application/json"), call
        assert {"detail", "error_code", "error", "ready"} & set(decoded), call
    elif response.status_code >= 400:
        # A refused token has its page too, for every caller.
        assert "text/html" in call.headers["Accept"] or call.target.startswith("/t/"), call
