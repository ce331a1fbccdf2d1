"""Dependencies of the API, injected by the composition root."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Protocol

import msgspec
from prometheus_client import REGISTRY
from prometheus_client.registry import Collector

from analysis.market.token_price import TokenPrice
from analysis.pipeline.analyser import KnownReport
from analysis.quotes.quote_source import Quotes
from analysis.token.contract_clock import ContractClock
from config.chains import Chain
from config.job_check import JobLimits
from config.plans import Plan
from config.settings_model import ApiSettings, PublicSettings
from config.sign_in import OidcClient
from config.sign_in_settings import SignInSettings
from config.watch_settings import WatchSettings
from core.evm.primitives import Address
from core.process.secret import Secret
from core.report.report import Report
from sql.accounts.ledger import Ledger
from sql.engine.store import Store


class Analysis(Protocol):
    """Interface of the analyser to the API."""

    async def report(
        self, chain: str, address: Address, /, *, refresh: bool = False, redecompile: bool = False
    ) -> Report:
        """Return the report on one token of the chain with that slug, analysing it if there is
        none.

        Parts that have not settled in time are pending or None, and `is_settled` is false. Raises
        TokenRefusedError, UpstreamError, InternalError.
        """
        ...

    async def recall(self, chain: str, address: Address, /) -> KnownReport:
        """Return what is stored or under way for the token of the chain with that slug, at once and
        without a request to a node."""
        ...


class ChainState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether one served chain is being followed."""

    chain: str
    """Slug of the chain."""
    is_ready: bool
    """The chain's node answers, and we are close to its head."""
    head: int | None
    """Newest block of the node. None: the node has not answered yet."""
    tip: int | None
    """Newest block stored. None: none yet."""
    reason: str = ""
    """Why it is not ready. Empty: it is."""


class StoreState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the service's own files can be used."""

    is_ready: bool
    """Store and ledger answer, and their disk has room."""
    reason: str = ""
    """Why it is not ready. Empty: it is."""


class StatusDeps(msgspec.Struct, frozen=True, kw_only=True):
    """What health, readiness and metrics of a process need."""

    read_states: Callable[[], Awaitable[tuple[ChainState, ...]]]
    """Returns the state of every served chain."""
    read_store_state: Callable[[], StoreState]
    """Looks whether the files can be used. Blocks."""
    is_ending: Callable[[], bool] = lambda: False
    """Returns whether the process is about to end, so that nobody should begin anything with it."""
    must_follow: AbstractSet[str] | None = None
    """Slugs of the chains without which this process is not ready. None: all. Others are followed
    by other processes, and readiness tells of them only."""
    metrics: Collector | None = REGISTRY
    """What GET /metrics shows. None: it is not served here."""
    metrics_token: Secret | None = None
    """Bearer token of GET /metrics. None: it needs none."""


class Prefill(msgspec.Struct, frozen=True, kw_only=True):
    """What the API browser is opened with, so that a call needs one click. For a demo alone:
    whoever opens the page can read the key."""

    api_key: str
    chain: str
    """Slug."""
    address: str
    """Of a token, with its checksum."""


class ApiDeps(msgspec.Struct, frozen=True, kw_only=True):
    """All dependencies of the API."""

    analysis: Analysis
    quotes: Quotes
    ledger: Ledger
    chains: tuple[Chain, ...]
    """Every supported chain."""
    served: AbstractSet[str]
    """Slugs of the chains that this deployment has a node for. In a fleet it changes meanwhile."""
    plans: Mapping[str, Plan]
    settings: ApiSettings
    store: Store | None = None
    """Store that searches by name read, and that keeps watches. None: there are neither."""
    public: PublicSettings = msgspec.field(default_factory=PublicSettings)
    """What people without a key may see."""
    watches: WatchSettings = msgspec.field(default_factory=WatchSettings)
    stop: asyncio.Event | None = None
    """Set when the service is to end: streams, which have no end of their own, end then. None: they
    end when the application is closed."""
    liquid_above_usd: float
    """A pool counts as liquid above this, not at it."""
    has_owner_simulation: bool = False
    """True if analyses simulate whether the owner can change balances."""
    has_billing: bool
    """True if a billing secret is configured, so trial keys are issued."""
    redis_url: Secret | None = None
    """Server that shares the rate windows between processes. None: each process has its own."""
    oidc: OidcClient | None = None
    """OpenID Connect client for sign-in. None: nobody can sign in."""
    sign_in: SignInSettings = msgspec.field(default_factory=SignInSettings)
    prefill: Prefill | None = None
    """None: callers of the API browser type their own key."""
    read_states: Callable[[], Awaitable[tuple[ChainState, ...]]]
    """Returns the state of every served chain."""
    read_store_state: Callable[[], StoreState] = lambda: StoreState(is_ready=True)
    """Looks whether the files can be used. Blocks."""
    is_ending: Callable[[], bool] = lambda: False
    """Returns whether the process is about to end, so that nobody should begin anything with it."""
    must_follow: AbstractSet[str] | None = None
    """Slugs of the chains without which this process is not ready. None: all. Others are followed
    by other processes, and readiness tells of them only."""
    jobs: JobLimits | None = None
    """What jobs may be. None: no jobs are run."""
    metrics: Collector | None = REGISTRY
    """What GET /metrics shows. None: it is not served here."""
    metrics_token: Secret | None = None
    """Bearer token of GET /metrics. None: it needs none."""
    read_price: Callable[[str, Report], Awaitable[TokenPrice | None]] | None = None
    """Returns the price of the report's token on a chain, by slug. None: prices are not looked
    up."""
    read_clock: Callable[[str], ContractClock | None] = lambda _: None
    """Returns the newest clock known for a chain, by slug. None: answers use the report's block."""
    answer_within_s: float = 30.0
    """Timeout of one analysis for its caller, behind the analyser's own."""
    batch_wait_s: float = 8.0
    """Timeout of a batch call: tokens that are not done by then are pending."""
    now_s: Callable[[], float] = time.time
    """Unix time, for expiry, quotas and deadlines."""
    monotonic_s: Callable[[], float] = time.monotonic
    """Monotonic time, for the age of cached answers."""

    @property
    def docs(self) -> Path | None:
        """Return the folder of the documentation site. None: it is not served."""
        return Path(self.settings.docs_folder) if self.settings.docs_folder else None
