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
from config.facts.chain import Chain
from config.job_check import JobLimits
from config.plans import Plan
from config.settings import (
    ApiSettings,
    IndexerSettings,
    LaunchSettings,
    PublicSettings,
    SignInSettings,
    WatchSettings,
)
from config.sign_in import OidcClient
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
        """Return the report on a token of the chain with that slug; analyse it if there is none.

        Parts that have not settled in time are pending or None, and `is_settled` is false. Raises
        TokenRefusedError, UpstreamError, InternalError.
        """
        ...

    async def recall(self, chain: str, address: Address, /) -> KnownReport:
        """Return the stored or running report of a token without a request to a node.

        `chain`: slug of the token's chain.
        """
        ...


class ChainState(msgspec.Struct, frozen=True, kw_only=True):
    """State of one served chain."""

    chain: str
    """Slug of the chain."""
    is_ready: bool
    """True if the chain's node answers and the store is close to its head."""
    head: int | None
    """Newest block of the node. None: the node has not answered yet."""
    tip: int | None
    """Newest stored block. None: none yet."""
    reason: str = ""
    """Reason why it is not ready. Empty: it is."""


class StoreState(msgspec.Struct, frozen=True, kw_only=True):
    """State of the service's own files."""

    is_ready: bool
    """True if store and ledger can be read and their disk has room."""
    reason: str = ""
    """Reason why they are not ready. Empty: they are."""


class StatusDeps(msgspec.Struct, frozen=True, kw_only=True):
    """Dependencies of health, readiness and metrics."""

    read_states: Callable[[], Awaitable[tuple[ChainState, ...]]]
    """Returns the state of every served chain."""
    read_store_state: Callable[[], StoreState]
    """Checks the files. Blocks."""
    is_ending: Callable[[], bool] = lambda: False
    """True if the process is about to end, so callers should start nothing with it."""
    must_follow: AbstractSet[str] | None = None
    """Slugs of the chains that this process needs to be ready. None: all. Other processes follow
    the others, which readiness only reports."""
    metrics: Collector | None = REGISTRY
    """Collector behind GET /metrics. None: the route is not served here."""
    metrics_token: Secret | None = None
    """Bearer token of GET /metrics. None: it needs none."""


class Prefill(msgspec.Struct, frozen=True, kw_only=True):
    """Values that the API browser opens with, so that a call needs one click. For demos only, as
    anyone who opens the page can read the key."""

    api_key: str
    chain: str
    """Slug."""
    address: str
    """Address of a token, with its checksum."""


class ApiDeps(msgspec.Struct, frozen=True, kw_only=True):
    """All dependencies of the API."""

    analysis: Analysis
    quotes: Quotes
    ledger: Ledger
    chains: tuple[Chain, ...]
    """Every supported chain."""
    served: AbstractSet[str]
    """Slugs of the chains that this deployment has a node for. Changes at run time in a fleet."""
    plans: Mapping[str, Plan]
    settings: ApiSettings
    store: Store | None = None
    """Store of watches and searches by name. None: there are neither."""
    public: PublicSettings = msgspec.field(default_factory=PublicSettings)
    """Limits of visitors without a key."""
    watches: WatchSettings = msgspec.field(default_factory=WatchSettings)
    stop: asyncio.Event | None = None
    """Set when the service is to end, which also ends streams. None: streams end when the
    application is closed."""
    launch: LaunchSettings = msgspec.field(default_factory=LaunchSettings)
    """Thresholds of launch forensics."""
    launches_kept_s: float = IndexerSettings().launches_kept_s
    """Seconds for which the first trades and transfers of tokens are kept."""
    liquid_above_usd: float
    """Pools are liquid above this value, not at it."""
    has_owner_simulation: bool = False
    """True if analyses simulate whether the owner can change balances."""
    has_liquidity_check: bool = True
    """True if analyses find the holders of liquidity."""
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
    """Checks the files. Blocks."""
    is_ending: Callable[[], bool] = lambda: False
    """True if the process is about to end, so callers should start nothing with it."""
    must_follow: AbstractSet[str] | None = None
    """Slugs of the chains that this process needs to be ready. None: all. Other processes follow
    the others, which readiness only reports."""
    jobs: JobLimits | None = None
    """Limits of jobs. None: no jobs are run."""
    metrics: Collector | None = REGISTRY
    """Collector behind GET /metrics. None: the route is not served here."""
    metrics_token: Secret | None = None
    """Bearer token of GET /metrics. None: it needs none."""
    read_price: Callable[[str, Report], Awaitable[TokenPrice | None]] | None = None
    """Returns the price of the report's token on a chain, by slug. None: prices are not looked
    up."""
    read_clock: Callable[[str], ContractClock | None] = lambda _: None
    """Returns the newest clock known for a chain, by slug. None: answers use the report's block."""
    answer_within_s: float = 30.0
    """Timeout of one analysis for its caller, in addition to the analyser's own."""
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
