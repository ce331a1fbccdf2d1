"""Random calls from the OpenAPI document, and undocumented ones, with checks of the answers.

The application is the real one over a real ledger; the outcome of the analysis is drawn for each
call. A documented refusal is no fault, nor is an ordered failure.
"""

import asyncio
import hashlib
import hmac
import json
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import msgspec
import schemathesis
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from config.sign_in import OidcClient
from core.errors import TokenRefusedError, UpstreamError
from core.report.report import Report
from sql.accounts.accounts import Accounts
from sql.accounts.ledger import Ledger
from sql.engine.store import Store
from tests.harness.api.routes import ROUTES
from tests.harness.api.sample_reports import MINED_AT_S, TOKEN, addresses, make_report, reports
from tests.harness.api.world import World
from tests.harness.store.empty_files import write_empty_store

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
    "sale_census",
    "trade_limits",
    "token_opening",
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


CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]

PLANS = ("admin", "admin", "enterprise", "pro", "trial")

CALLERS = 8
"""Callers of each call, as generating a call takes longer than sending it."""

_SERVER_FAULT = 500

BASE = "http://localhost:8000"

_ORDERED = ("does not serve the chain chain_56", "The sign-in service cannot be reached")

Outcome = Report | TokenRefusedError | UpstreamError

_outcomes: st.SearchStrategy[Outcome] = (
    reports()
    | st.just(make_report())
    | st.sampled_from(["not_a_contract", "not_a_token", "invalid_token_data"]).map(
        lambda code: TokenRefusedError(code=code, reason="made up")  # type: ignore[arg-type]
    )
    | st.just(UpstreamError(service="node", reason="made up"))
)

_chains = st.sampled_from(["1", "ethereum", "ethereum", "ethereum", "56", "2"])

_HEADERS: tuple[dict[str, str], ...] = (
    {},
    {"Accept-Encoding": "gzip", "If-None-Match": "*"},
    {"Accept-Encoding": "identity;q=0, *", "Cookie": "a=b; ;=;"},
    {"Accept-Encoding": "zstd;q=x,", "If-None-Match": 'W/"x", "'},
    {"Content-Type": "text/plain", "X-Forwarded-For": "::1, ,nobody"},
    {"Content-Type": "multipart/form-data", "Accept": "text/html"},
)


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Sender of a call."""

    key: str | None
    headers: dict[str, str]
    peer: str
    """Address that the call comes from."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One call, its sender, and the outcome of its analysis."""

    case: Case[Any] | WildCall
    outcome: Outcome
    callers: list[Caller]


class Fuzzer:
    """One deployment and its document."""

    def __init__(self, folder: Path):
        self._runner = asyncio.Runner()
        self._ledger = Ledger.open(folder / "ledger.sqlite")
        write_empty_store(folder / "store")
        self._store = Store.open(folder / "store")
        self._world = World(self._ledger)
        self._keys = [*map(self._world.new_key, PLANS), "tsk_live_made_up", "", None]
        self.statuses: Counter[str] = Counter()
        """Answers by operation and status."""
        self._app = self._runner.run(self._make_app())
        self._transport = httpx.ASGITransport(app=self._app)
        self._client = httpx.AsyncClient(transport=self._transport, base_url=BASE)
        self._session = SignedIn(self._world)
        served = self._runner.run(self._client.get("/schema")).json()
        document = schemathesis.openapi.from_dict(served)
        self._document = document.exclude(path=["/health", "/ready"])  # nothing to make up

    async def _make_app(self) -> Any:
        ended = asyncio.Event()
        ended.set()  # streams of events end once they have begun
        app = self._world.make_app(oidc=NOBODY, store=self._store, stop=ended)
        self._world.keep(app)
        return app

    def calls(self) -> st.SearchStrategy[Call]:
        """Any call of any operation, well-formed or not; most of those of a token name one."""
        cases = self._document.as_strategy(
            generation_mode=GenerationMode.POSITIVE
        ) | self._document.as_strategy(generation_mode=GenerationMode.NEGATIVE)
        callers = st.builds(
            Caller,
            key=st.sampled_from(self._keys) | st.just(self._keys[0]),
            headers=st.sampled_from(_HEADERS),
            peer=st.integers(0, 2**16 - 1).map(lambda at: f"10.0.{at >> 8}.{at & 255}"),
        )
        wild = wild_calls()
        a_token = st.fixed_dictionaries({"chain": _chains, "address": addresses | st.just(TOKEN)})

        @st.composite
        def call(draw: st.DrawFn) -> Call:
            case = draw(wild) if draw(st.integers(0, 3)) == 0 else draw(cases)
            if (
                isinstance(case, Case)
                and "address" in case.path_parameters
                and draw(st.integers(0, 7))
            ):
                case.path_parameters |= draw(a_token)
            return Call(
                case=case,
                outcome=draw(_outcomes),
                callers=draw(st.lists(callers, min_size=CALLERS, max_size=CALLERS)),
            )

        return call()

    def judge(self, call: Call) -> None:
        """Send the call, by each caller. Raises an error for a wrong answer."""
        for caller in call.callers:
            response = self._runner.run(self._send(call, caller))
            self.statuses[f"{_operation(call.case)} {response.status_code}"] += 1
            if response.status_code >= _SERVER_FAULT and not _was_ordered(call, response):
                raise AssertionError((response.status_code, response.text))
            if isinstance(call.case, WildCall):
                check_wild(call.case, response)
            else:
                call.case.validate_response(response, checks=CHECKS)

    def unanswered(self) -> list[str]:
        """Routes that no call has got a good answer from."""
        good = {name.rpartition(" ")[0] for name in self.statuses if name[-3:] < "400"}
        return sorted({f"wild {method} {target}" for method, target in ROUTES} - good)

    async def _send(self, call: Call, caller: Caller) -> httpx.Response:
        self._world.analysis.outcome = call.outcome
        self._transport.client = (caller.peer, 1)
        if isinstance(call.case, WildCall):
            return await self._send_wild(call.case, caller)
        sent = call.case.as_transport_kwargs(base_url=BASE)
        headers = {**dict(sent["headers"]), **caller.headers}
        if caller.key is not None:
            headers["X-API-Key"] = caller.key
        data = sent.get("data")
        request = self._client.build_request(
            sent["method"],
            sent["url"],
            params=sent.get("params") or None,
            headers=headers,
            json=sent.get("json"),
            content=data if isinstance(data, bytes | str) else None,
        )
        return await self._client.send(request)

    async def _send_wild(self, call: WildCall, caller: Caller) -> httpx.Response:
        headers = {**caller.headers, **call.headers}
        if caller.key is not None:
            headers["X-API-Key"] = caller.key
        if call.is_signed_in:
            headers["Cookie"] = self._session.cookie
        request = self._client.build_request(
            call.method, BASE + call.target, headers=headers, content=self._session.fill(call.body)
        )
        response = await self._client.send(request)
        if call.route[1] == "/logout" and response.status_code < 400:
            self._session.sign_in()
        return response

    def close(self) -> None:
        """Close store and ledger."""
        self._runner.run(self._client.aclose())
        self._runner.run(self._world.aclose())
        self._store.close()
        self._ledger.close()
        self._runner.close()


def _operation(case: Case[Any] | WildCall) -> str:
    if isinstance(case, WildCall):
        return "wild " + " ".join(case.route)
    return f"{case.method} {case.path}"


def _was_ordered(call: Call, response: httpx.Response) -> bool:
    if response.status_code == 500:
        is_ours = not response.content or "analysis" in response.text  # HEAD; JSON or a page
        return isinstance(call.outcome, UpstreamError) and is_ours
    return response.status_code == 503 and (
        not response.content or any(allowed in response.text for allowed in _ORDERED)
    )
