"""Indexed facts of a token: the rows of the index that an analysis starts from."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from config.facts.chain import Chain
from core.evm.primitives import Address, BlockRef, Hash32, RawAmount
from core.report.rows import LaunchRow, PoolRow
from core.report.track_record import IndexedRecord


class TransferHistory(msgspec.Struct, frozen=True, kw_only=True):
    """Extent of a token's transfers in the index."""

    from_block: int | None = None
    """All transfers from this block on are indexed. None: none are."""
    is_whole: bool = False
    """True if no older transfers matter."""
    held_raw: int | None = None
    """Sum of the balances that the transfers give; beyond 256 bits where a token emits false
    amounts. None: the history is not whole."""

    @property
    def extent(self) -> Literal["none", "some", "all"]:
        """Return the extent as one word."""
        if self.from_block is None:
            return "none"
        return "all" if self.is_whole else "some"


class MinedTransaction(msgspec.Struct, frozen=True, kw_only=True):
    """A transaction and the height of its block."""

    tx_hash: Hash32
    block_number: int


class IndexedFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One token's rows."""

    pools: tuple[PoolRow, ...] = ()
    """All against the given quotes, and the first few against other tokens."""
    covered_factories: frozenset[Address] = frozenset()
    """Factories whose every pool up to the tip is in the index; the others have to be read."""
    launches: tuple[LaunchRow, ...] = ()
    """Launch platforms that announced the token."""
    covered_launches: frozenset[str] = frozenset()
    """Launchpad.subject of those whose every event up to the tip is in the index."""
    holders: tuple[tuple[Address, RawAmount], ...] = ()
    """Largest first, by indexed transfers; may be incomplete, so balances are read again."""
    past: TransferHistory = TransferHistory()
    """Source of the holders' amounts."""
    creator: Address | None = None
    """Sender of the transaction that created the token, once that was final. None: not known."""
    creation: MinedTransaction | None = None
    """The transaction that created the token. None: not known."""
    no_wallet_at_s: int | None = None
    """Unix seconds of the last transfer check, if it found no wallet to check with."""
    record: IndexedRecord | None = None
    """Real trades of the token. None: the token is not tracked."""

    @property
    def first_transaction(self) -> MinedTransaction | None:
        """Return the creation, or else the launch that announced the token. None: not indexed."""
        launched = (
            MinedTransaction(tx_hash=launch.tx_hash, block_number=launch.block_number)
            for launch in self.launches
            if launch.tx_hash is not None
        )
        return self.creation or next(launched, None)


class FailedSale(msgspec.Struct, frozen=True, kw_only=True):
    """A real sale that was mined and failed, for a reason that is not its own limits."""

    trader: Address | None
    """Sender of the transaction. None: not known."""
    tx_hash: Hash32
    block_number: int
    block_time_s: int
    reason: str
    """Error of the repeated call; empty where there was none."""


class SaleHistory(msgspec.Struct, frozen=True, kw_only=True):
    """Real failed sales of a watched token, and the blocks of its owner's calls."""

    is_watched: bool = False
    """False: nothing was ever observed about the token, so that no sale is known."""
    failed: tuple[FailedSale, ...] = ()
    """Newest first."""
    call_blocks: tuple[int, ...] = ()
    """Blocks with calls that holders do not use, or events of its parameters, newest first."""


class IndexedEvent(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One event of a pool, as `eth_getLogs` answers it."""

    address: Address
    topics: tuple[str, ...]
    data: str
    block_number: str
    """In hex."""


class PoolEvents(msgspec.Struct, frozen=True, kw_only=True):
    """The events of a pool that name who may hold its liquidity, from its creation on."""

    to_block: int
    """Last block of which all are known."""
    events: tuple[IndexedEvent, ...]
    """In chain order."""


class FactsIndex(Protocol):
    """Source of indexed facts: the tables, or none."""

    async def known(
        self, chain: Chain, token: Address, quotes: Sequence[Address], pin: BlockRef | None
    ) -> IndexedFacts:
        """Return everything indexed about `token`: pools against `quotes`, a few others, holders,
        launches.

        `pin`: the block that a factory must be indexed up to, to count as covered. None: it is not
        known yet, and none counts.
        """
        ...

    async def pool_events(
        self, chain: Chain, pools: Sequence[str], pin: BlockRef
    ) -> Mapping[str, PoolEvents]:
        """Return the events of pools, by key, up to `pin` or a little below; none above it. Left
        out: pools whose events are not indexed since their creation. Raises StoreError."""
        ...

    async def sale_history(self, chain: Chain, token: Address, pin: BlockRef) -> SaleHistory:
        """Return the newest failed sales of a token up to `pin`. Raises StoreError."""
        ...


class NoFactsIndex:
    """An index without tables: everything is read from the chain."""

    async def known(
        self, chain: Chain, token: Address, quotes: Sequence[Address], pin: BlockRef | None
    ) -> IndexedFacts:
        """Return no facts."""
        return IndexedFacts()

    async def pool_events(
        self, chain: Chain, pools: Sequence[str], pin: BlockRef
    ) -> Mapping[str, PoolEvents]:
        """Return no events."""
        return {}

    async def sale_history(self, chain: Chain, token: Address, pin: BlockRef) -> SaleHistory:
        """Return no sales."""
        return SaleHistory()
