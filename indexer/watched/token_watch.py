"""Watching of tokens beside following: reads blocks, and writes what they say with the blocks.

Where no token is watched it costs one look-up of a number for each commit, and no request.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import structlog

from config.chains import Chain
from config.settings_model import IndexerSettings
from core.evm.primitives import BlockRef
from core.rpc.client import RpcClient
from core.rpc.headers import Header
from indexer.reads import BlockSpan
from indexer.watched.block_reads import BlockReads, WatchReader
from indexer.watched.block_watch import BlockWatch
from indexer.watched.watched_set import WatchedSet, WatchedTokens
from sql.engine.database import Transaction
from sql.engine.store import Readable
from sql.tokens.observations import pace_of, write_gap, write_observations

_log = structlog.get_logger(__name__)


class WatchTotals(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen of watched tokens, and what was not looked at."""

    observations: Mapping[str, int] = {}
    """By kind."""
    unread_transactions: int = 0
    """Those that concern a watched token and were left out, as there were too many in a block."""
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
        """Read which tokens are watched. Raises StoreError."""
        self._now = self._tokens.refresh(store)

    async def fetch(self, headers: Sequence[Header]) -> tuple[BlockReads, ...]:
        """Read what blocks say of watched tokens beside their followed events. Raises nothing of
        the nodes: what they do not answer is logged and counted."""
        if not self._now:
            return ()
        reads = await self._reader.fetch(headers, self._now)
        for read in reads:
            for reason in read.missing:
                self._log.warning("not read for watched tokens", block=read.number, reason=reason)
        return reads

    def write(
        self, tx: Transaction, piece: BlockSpan, reads: Sequence[BlockReads] | None
    ) -> WatchTotals:
        """Write what a piece says, in the transaction that stores it.

        `reads` None: its blocks were not read one by one. Raises StoreError.
        """
        totals = self._write(tx, piece, reads) if self._now else WatchTotals()
        self._last = piece.tip
        self.warm(tx)
        return totals

    def _write(
        self, tx: Transaction, piece: BlockSpan, reads: Sequence[BlockReads] | None
    ) -> WatchTotals:
        now_s = time.time()
        if reads is None:
            where = {"chain_id": self._chain_id, "first": piece.first}
            missed = write_gap(tx, **where, last=piece.tip, now_s=now_s)
            return WatchTotals(observations={"gap": missed})
        seen = self._watch.observe(piece, reads, self._now)
        pace = self._pace.between(self._last, piece.tip)
        write_observations(tx, seen, pace=pace, now_s=now_s)
        return WatchTotals(
            observations=Counter(one.kind for one in seen),
            unread_transactions=sum(read.unread for read in reads),
            missing_reads=sum(len(read.missing) for read in reads),
        )
