"""Random calls that schemathesis draws from the OpenAPI document, and undocumented ones, with
checks of the answers.

The application is the real one over a real ledger; the outcome of the analysis is drawn for each
call. A documented refusal is no fault, nor is an ordered failure.
"""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

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

from core.errors import TokenRefusedError, UpstreamError
from core.report.report import Report
from sql.accounts.ledger import Ledger
from sql.engine.store import Store
from tests.harness.api.routes import ROUTES
from tests.harness.api.sample_reports import TOKEN, addresses, make_report, reports
from tests.harness.api.undocumented_requests import (
    NOBODY,
    SignedIn,
    WildCall,
    check_wild,
    wild_calls,
)
from tests.harness.api.world import World
from tests.harness.store.empty_store import write_empty_store

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

_ORDERED = ("does not serve the chain chain_56", "people sign in with cannot be reached")

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
