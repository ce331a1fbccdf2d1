"""Watching of tokens in parallel to following: reads blocks, and writes observations with them.

On a chain without watched tokens it costs one integer read per commit, and no request.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import structlog

from config.facts.chain import Chain
from config.settings import IndexerSettings
from core.evm.primitives import BlockRef
from core.rpc.client import RpcClient
from core.rpc.headers import Header
from indexer.block_spans import BlockSpan
from indexer.watched.block_reads import BlockReads, WatchReader
from indexer.watched.block_watch import BlockWatch
from indexer.watched.watched_set import WatchedSet, WatchedTokens
from sql.engine.database import Transaction
from sql.engine.store import Readable
from sql.tokens.observations import pace_of, write_gap, write_observations

_log = structlog.get_logger(__name__)


class WatchTotals(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of observations, and of data that was left out."""

    observations: Mapping[str, int] = {}
    """Number of observations by kind."""
    unread_transactions: int = 0
    """Transactions on watched tokens beyond the limit of a block, which were left out."""
    missing_reads: int = 0
    """Reads of blocks that no node answered."""

    def plus(self, other: "WatchTotals") -> "WatchTotals":
        """Return the sum of both."""
        return WatchTotals(
            observations=Counter(self.observations) + Counter(other.observations),
            unread_transactions=self.unread_transactions + other.unread_transactions,
            missing_reads=self.missing_reads + other.missing_reads,
        )


class TokenWatch:
    """Watches the tokens of one chain. Not for concurrent use."""

    def __init__(self, chain: Chain, client: RpcClient, settings: IndexerSettings) -> None:
        self._chain_id = chain.id
        self._tokens = WatchedTokens(chain)
        self._now = WatchedSet()
        self._watch = BlockWatch(chain)
        is_read = chain.slug not in settings.unread_transactions
        self._reader = WatchReader(
            client, most_receipts=settings.watched_receipts if is_read else 0
        )
        self._pace = pace_of(chain, settings)
        self._last: BlockRef | None = None
        self._log = _log.bind(chain=chain.slug)

    def warm(self, store: Readable) -> None:
        """Load the set of watched tokens. Raises StoreError."""
        self._now = self._tokens.refresh(store)

    async def fetch(
        self, headers: Sequence[Header], *, has_filters: bool
    ) -> tuple[BlockReads, ...]:
        """Read additional data on watched tokens in these blocks.

        `has_filters`: the chain's blocks have bloom filters.
        Failures of nodes are logged and counted, none is raised.
        """
        if not self._now:
            return ()
        reads = await self._reader.fetch(headers, self._now, has_filters=has_filters)
        for read in reads:
            for reason in read.missing:
                self._log.warning(
                    "reads for watched tokens failed", block=read.number, reason=reason
                )
        return reads

    def write(
        self, tx: Transaction, span: BlockSpan, reads: Sequence[BlockReads] | None
    ) -> WatchTotals:
        """Write the observations in a span, in the transaction that stores it.

        `reads` None: its blocks were not read one by one. Raises StoreError.
        """
        totals = self._write(tx, span, reads) if self._now else WatchTotals()
        self._last = span.tip
        self.warm(tx)
        return totals

    def _write(
        self, tx: Transaction, span: BlockSpan, reads: Sequence[BlockReads] | None
    ) -> WatchTotals:
        now_s = time.time()
        if reads is None:
            where = {"chain_id": self._chain_id, "first": span.first}
            missed = write_gap(tx, **where, last=span.tip, now_s=now_s)
            return WatchTotals(observations={"gap": missed})
        seen = self._watch.observe(span, reads, self._now)
        pace = self._pace.between(self._last, span.tip)
        write_observations(tx, seen, pace=pace, now_s=now_s)
        return WatchTotals(
            observations=Counter(one.kind for one in seen),
            unread_transactions=sum(read.unread for read in reads),
            missing_reads=sum(len(read.missing) for read in reads),
        )
