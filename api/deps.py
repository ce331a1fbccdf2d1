"""What the API needs from the rest of the program, handed over by whoever wires it."""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

import msgspec

from analysis.market.token_price import TokenPrice
from analysis.token.contract_clock import ContractClock
from config.chains import Chain
from config.plans import Plan
from config.primitives import Address
from config.secret import Secret
from config.settings import ApiSettings, SignInSettings
from config.sign_in import OidcClient
from sql.ledger import Ledger
from sql.rows import Report


class Analysis(Protocol):
    """The analyser, as the API sees it."""

    async def report(
        self, chain: str, address: Address, /, *, refresh: bool = False, redecompile: bool = False
    ) -> Report:
        """The report on one token of the chain with that slug, made now if there is none.

        What has not settled in time is pending or None in it, and `is_settled` is false.
        Raises TokenRefusedError, UpstreamError, InternalError.
        """
        ...


class ChainState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether one served chain is being followed."""

    chain: str
    """Slug."""
    is_ready: bool
    head: int | None
    """Newest block of the node. None: it has not answered yet."""
    tip: int | None
    """Newest block we hold. None: none yet."""
    reason: str = ""
    """Why it is not ready."""


class ApiDeps(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the API is given."""

    analysis: Analysis
    ledger: Ledger
    chains: tuple[Chain, ...]
    """Every supported chain."""
    served: frozenset[str]
    """Slugs of the chains that this deployment has a node for."""
    plans: Mapping[str, Plan]
    settings: ApiSettings
    liquid_above_usd: float
    """A pool counts as liquid above this, not at it."""
    has_owner_simulation: bool = False
    """Analyses ask whether the owner can change balances."""
    has_billing: bool
    """A billing secret is configured, so trial keys are issued."""
    redis_url: Secret | None = None
    """Server that shares the rate-limit windows with other processes. None: they are our own."""
    oidc: OidcClient | None = None
    """Who people sign in with. None: nobody can."""
    sign_in: SignInSettings = msgspec.field(default_factory=SignInSettings)
    read_states: Callable[[], Awaitable[tuple[ChainState, ...]]]
    """The state of every served chain."""
    read_price: Callable[[str, Report], Awaitable[TokenPrice | None]] | None = None
    """The price of the report's token on a chain, by slug. None: nobody is asked."""
    read_clock: Callable[[str], ContractClock | None] = lambda _: None
    """The newest clock known for a chain, by slug. None: answers use the report's block."""
    answer_within_s: float = 30.0
    """Bound on one analysis as the caller waits for it, behind the analyser's own."""
    batch_wait_s: float = 8.0
    """Bound on a call about several tokens: what is not done by then is pending."""
    now_s: Callable[[], float] = time.time
    """Unix time: expiry, quotas, deadlines."""
    monotonic_s: Callable[[], float] = time.monotonic
    """Age of cached answers."""
