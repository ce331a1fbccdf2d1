"""Type of a venue: search, reads and trades of the pools of one family.

A family's module exports a `VENUE`; `venue_registry.py` lists them. Its events and names are
declared in `config/pool_families`.
"""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import msgspec

from analysis.market.venues.lookup import Lookup
from analysis.market.venues.pool import Candidate, PoolState
from analysis.market.venues.trade_route import Reach, ReadMoved, RouterForm, TradeRoute
from analysis.reads.chain_reads import AnswerAddress
from analysis.reads.read_batch import ReadBatch
from config.facts.chain import Dex
from config.facts.pool_family import DexKind
from core.evm.primitives import Address

TierKey = Literal["fee", "tick_spacing"]

LiquidityForm = Literal[
    "lp_tokens", "minted_positions", "entry_positions", "entry_bins", "book_bins"
]
"""Form of liquidity: tokens of the pair; positions of a pool, most of them tokens of a position
manager; positions or bins of a pool that is an entry of one contract; bins of a pair."""


class PoolReading(Protocol):
    """Reads of the state of one pool contract."""

    def read(self, candidate: Candidate) -> PoolState | None:
        """Decode the state of the pool. None: it did not answer as its kind does. Raises
        UpstreamError."""
        ...


class AddPoolReads(Protocol):
    """Adds the reads of one pool's state to a batch."""

    def __call__(
        self, batch: ReadBatch, pair: Candidate | Lookup, pool: Address | AnswerAddress
    ) -> PoolReading:
        """`pair`: the exchange and the tokens of the pool, which may still be looked up."""
        ...


class BuildRoute(Protocol):
    """Builder of trade routes through our own router."""

    def __call__(
        self,
        candidate: Candidate,
        router: Address,
        *,
        wrapped: Address | None,
        permit2: Address | None,
    ) -> TradeRoute | str:
        """Return the route with our router at `router`, or the reason why there is none.

        `wrapped`: the pool's other token, if that is the wrapped coin. `permit2` None: the router
        pulls tokens itself.
        """
        ...


class BuildReach(Protocol):
    """Builder of calls that measure the amounts that a pool would take and give."""

    def __call__(self, candidate: Candidate, *, free: Address, mark: Address) -> Reach | None:
        """`free`: an unused address for our router. `mark`: a secret that authenticates the answer.
        None: pools of the family always trade, or how this one is called is not known."""
        ...


class EntriesReading(Protocol):
    """Reads of the states of pools that are entries of one contract."""

    def read(self) -> list[tuple[Candidate, PoolState | None]]:
        """Decode the state of each pool. None: the node did not return enough. Raises
        UpstreamError."""
        ...

    def read_existing(self) -> frozenset[str]:
        """Return the keys of the pools that exist. Raises UpstreamError."""
        ...


class AddEntryReads(Protocol):
    """Adds the reads of pools' states to a batch."""

    def __call__(
        self, batch: ReadBatch, dex: Dex, pools: Sequence[Candidate], *, to_block: int | None
    ) -> EntriesReading:
        """`to_block` None: up to the newest."""
        ...


class FloorReading(Protocol):
    """Bulk reads of lower bounds of very many pools' reserves."""

    def read(self) -> list[tuple[Candidate, PoolState | None]]:
        """Decode the bounds. None: there is no such pool, or the node returned no data. Raises
        UpstreamError."""
        ...


class CreatedReading(Protocol):
    """Log queries for the creation events of one token's pools."""

    @property
    def is_refused(self) -> bool:
        """True if the node refused one of the ranges."""
        ...

    def read(self, quotes: Sequence[Address]) -> tuple[Candidate, ...]:
        """Decode the token's pools against `quotes` and the native coin."""
        ...


class AddCreationReads(Protocol):
    """Adds the queries for creation events to a batch."""

    def __call__(
        self, batch: ReadBatch, dex: Dex, token: Address, *, to_block: int | None
    ) -> CreatedReading:
        """`to_block` None: up to the newest."""
        ...


class PoolEntries(msgspec.Struct, frozen=True, kw_only=True):
    """Search and reads of pools that are entries of one contract, which no getter lists."""

    is_readable: Callable[[Dex], bool]
    """False: pools of this exchange are known by the index only, and their states are not."""
    standard_pools: Callable[[Dex, Address, Sequence[Address]], tuple[Candidate, ...]]
    """Pools that a token may have against quotes and the native coin, by their usual keys."""
    request_created: AddCreationReads
    request_states: AddEntryReads
    request_floors: Callable[[ReadBatch, Dex, Sequence[Candidate]], FloorReading]


def _no_lookups(_dex: Dex, _token: Address, _quote: Address) -> Sequence[Lookup]:
    return ()


def _no_tiers(_dex: Dex) -> None:
    return None


def _no_reach(candidate: Candidate, *, free: Address, mark: Address) -> None:
    return None


class RouterTrades(msgspec.Struct, frozen=True, kw_only=True):
    """Trades of a family's pools through the exchange's own router."""

    every_form: tuple[RouterForm, ...]
    """All forms that routers of the family may have."""
    forms_of: Callable[[Candidate], tuple[RouterForm, ...]]
    """The forms that can address a pool, the best first."""
    read_moved: ReadMoved
    must_quote: bool = False
    """As TradeRoute.must_quote."""
    takes_all: bool = False
    """As TradeRoute.takes_all."""


def _no_form(_dex: Dex) -> None:
    return None


class Venue(msgspec.Struct, frozen=True, kw_only=True):
    """One pool family: look-ups at the factory, state, fee tiers, routes of trades.

    A pool is a separate contract, or an entry of one that holds all: then `request_pool` is None,
    and `entries` is not.
    """

    kind: DexKind
    lookups: Callable[[Dex, Address, Address], Sequence[Lookup]] = _no_lookups
    """Queries of the factory for pools of a token and a quote token. Empty: it has no getter."""
    request_pool: AddPoolReads | None = None
    entries: PoolEntries | None = None
    liquidity_form: Callable[[Dex], LiquidityForm | None] = _no_form
    """None: the holders of liquidity are not read."""
    tier_key: Callable[[Dex], TierKey | None] = _no_tiers
    """Part of a pool's key that the factory's owner enables by value. None: there is none."""
    tier_list: str | None = None
    """Signature of the factory's read of all enabled tiers, `int24[]`. None: it has none."""
    router: RouterTrades | None = None
    """None: pools are traded through our own router, at the address of the exchange's where that
    is known, as pools let every contract trade and hooks distinguish callers."""
    route: BuildRoute
    reach: BuildReach = _no_reach
