"""The application over a scripted analysis, a real ledger and a clock that is set by hand."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import msgspec

from analysis.pipeline.analyser import KnownReport
from api.app import create_app
from api.deps import ApiDeps, ChainState
from api.serving.cached_answer_app import CachedAnswerApp
from config.facts.chain import Anchor, Chain, Oracle
from config.plans import load_plans
from config.settings import ApiSettings
from core.evm.primitives import Address
from core.report.report import Report
from sql.accounts.ledger import Calls, Ledger, utc_day
from sql.engine.store import Store
from sql.reports.report_tables import read_report
from tests.harness.api.sample_reports import LIQUID_USD, MINED_AT_S, TOKEN, make_report
from tests.harness.api.scripted_quotes import ScriptedQuotes
from tests.harness.clock import HandClock

PLANS = load_plans()

CLIENT = "203.0.113.7"


def make_chain(chain_id: int, slug: str, *aliases: str) -> Chain:
    """A chain with twelve-second blocks and nothing on it."""
    anchor = Anchor(address=TOKEN, symbol="ANY", decimals=18)
    return Chain(
        id=chain_id,
        slug=slug,
        aliases=aliases,
        display_name=slug,
        block_time_s=12.0,
        clock="own",
        native_symbol="ETH",
        finality_blocks=64,
        start_block=None,
        wrapped_native=anchor,
        stables=(anchor, anchor),
        oracle=Oracle(native_usd=TOKEN, decimals=8, heartbeat_s=3600),
        dexes=(),
        launchpads=(),
    )


CHAINS = (make_chain(1, "ethereum"), make_chain(56, "chain_56"))


class ScriptedAnalysis:
    """Scripted analysis that records its requests."""

    def __init__(self) -> None:
        self.outcome: Report | Exception = make_report()
        self.known = KnownReport(report=None, is_recent=False, is_running=False)
        self.store: Store | None = None
        """Store of recent reports. None: every token is `known`."""
        self.requests: list[dict[str, Any]] = []
        self.was_asked = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def report(
        self, chain: str, address: Address, /, *, refresh: bool = False, redecompile: bool = False
    ) -> Report:
        self.requests.append(
            {"chain": chain, "address": address, "refresh": refresh, "redecompile": redecompile}
        )
        self.was_asked.set()
        await self.gate.wait()
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    async def recall(self, chain: str, address: Address, /) -> KnownReport:
        if self.store is None:
            return self.known
        chain_id = next(one.id for one in CHAINS if one.slug == chain)
        report = read_report(self.store, chain_id=chain_id, address=address)
        return KnownReport(report=report, is_recent=report is not None, is_running=False)


class World:
    """One deployment of the API."""

    def __init__(self, ledger: Ledger):
        self.ledger = ledger
        self.clock = HandClock(float(MINED_AT_S))
        self.analysis = ScriptedAnalysis()
        self.quotes = ScriptedQuotes()
        self.states: tuple[ChainState, ...] = ()
        self._opened: list[CachedAnswerApp] = []

    def count(self, key_id: int, calls: int, *, at_s: float) -> None:
        """Count earlier calls of any process."""
        self.ledger.add_calls([Calls(key_id=key_id, day=utc_day(at_s), calls=calls)], at_s)

    def new_key(self, plan: str = "admin", *, days: int | None = None) -> str:
        """Return the plaintext of a new key; with `days`, one with that lifetime on any plan."""
        terms = PLANS[plan]
        if days is not None:
            terms = msgspec.structs.replace(terms, expires_after_days=days)
        return self.ledger.create_key(terms, "test", self.clock.now_s).plaintext

    def make_app(self, **changes: Any) -> CachedAnswerApp:
        """Build the application, with the named changes."""
        return create_app(self.make_deps(**changes))

    def make_deps(self, **changes: Any) -> ApiDeps:
        """Build the dependencies, with the named changes."""

        async def read_states() -> tuple[ChainState, ...]:
            return self.states

        plain: dict[str, Any] = {
            "analysis": self.analysis,
            "quotes": self.quotes,
            "ledger": self.ledger,
            "chains": (make_chain(1, "ethereum", "eth"), make_chain(56, "chain_56", "bsc", "bnb")),
            "served": frozenset({"ethereum"}),
            "plans": PLANS,
            "settings": ApiSettings(docs_folder=""),
            "liquid_above_usd": LIQUID_USD,
            "has_billing": True,
            "read_states": read_states,
            "now_s": self.clock,
            "monotonic_s": self.clock,
        }
        return ApiDeps(**{**plain, **changes})

    def client(self, *, peer: str = CLIENT, **changes: Any) -> httpx.AsyncClient:
        """A client of a fresh application, calling from the address `peer`."""
        app = self.make_app(**changes)
        self.keep(app)
        transport = httpx.ASGITransport(
            app=app,  # type: ignore[arg-type]  # the two name the ASGI types differently
            client=(peer, 40_000),
            raise_app_exceptions=False,
        )
        return httpx.AsyncClient(transport=transport, base_url="http://assay.test")

    def keep(self, app: CachedAnswerApp) -> None:
        """End it with the test."""
        self._opened.append(app)

    async def aclose(self) -> None:
        """End the work of the applications."""
        for app in self._opened:
            await app.aclose()


Get = Callable[..., Awaitable[httpx.Response]]


STORED = {"cache-control": "private, no-cache", "vary": "accept-encoding"}


def headers_of(response: httpx.Response) -> dict[str, str]:
    """All headers but those that every body has, and those that every finding has."""
    sent = dict(response.headers)
    assert sent.pop("content-type") == "application/json"
    sent.pop("content-length")
    if sent.pop("etag", None) is not None:
        assert response.status_code == 200
        assert {name: sent.pop(name) for name in STORED} == STORED
        sent.pop("content-encoding", None)
    return sent
