"""Ingestion of blocks at the head of one chain, and reorg handling: appends blocks and unwinds
them.

Blocks below the finality depth are fetched by range. Blocks near the head are fetched one by one,
checked by parent hash, and kept in a window so that a reorg can be unwound. The loop around it is
in follow.py.
"""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Mapping, Sequence

import msgspec
import structlog

from config.facts.chain import Chain
from config.settings import IndexerSettings
from core.errors import InternalError, UpstreamError
from core.evm.primitives import BlockRef, Hash32
from core.rpc.client import RpcClient
from core.rpc.headers import Header
from indexer.accuracy.accuracy_ledger import write_checks
from indexer.block_spans import BlockSpan, fetch_header, fetch_headers, fetch_headers_at, join_spans
from indexer.decode.log_columns import LogColumns
from indexer.head.follower_status import FollowTotals
from indexer.head.reconcile import Append, CatchUp, NoChange, Unwind, next_step
from indexer.head.second_reads import SecondReader, unwound_blocks
from indexer.ingest import Ingest, WrittenSpan
from indexer.log_reader import LogReader
from indexer.span_reader import SpanReader
from indexer.watched.block_reads import BlockReads
from indexer.watched.token_swaps import trade_facts
from indexer.watched.token_watch import TokenWatch, WatchTotals
from sql.chain.blocks import (
    FOLLOW,
    list_blocks,
    prune_blocks,
    raise_floor,
    read_checkpoint,
    read_floor,
)
from sql.engine.database import Transaction
from sql.engine.store import Store
from sql.unwind import unwind_from

_BLOCKS_AT_ONCE = 32
"""Blocks near the head that are fetched and committed at a time."""
_UNWOUND_AT_ONCE = 4
"""Blocks that are checked for a reorg, and unwound, at a time: few reorgs are deeper."""

_log = structlog.get_logger(__name__)


class Follower:
    """Position on one chain, and the steps that change it. Not for concurrent use."""

    def __init__(
        self, chain: Chain, client: RpcClient, store: Store, settings: IndexerSettings
    ) -> None:
        self._chain = chain
        self._client = client
        self._store = store
        self._ingest = Ingest(chain, unwound_blocks=unwound_blocks(chain, settings))
        self._trade_facts = trade_facts(chain)
        self._reader = LogReader(client)
        self._spans = SpanReader(
            self._reader,
            settings,
            topics=self._ingest.followed_topics,
            timed_topics=self._ingest.timed_topics,
        )
        self._second = SecondReader(chain, self._reader, settings, self._ingest.block_topics)
        self._watch = TokenWatch(chain, client, settings)
        self._trade_blocks = chain.blocks_in(settings.trades_kept_s)
        self._log = _log.bind(chain=chain.slug)
        self._window: dict[int, BlockRef] = {}
        self._log_counts: dict[int, int] = {}
        """Logs read of blocks in the window; none of blocks that need no second read."""
        self._late: Mapping[Hash32, LogColumns] = {}
        """Logs of blocks that are being stored again, from their second read."""
        self._confirmed = -1
        """Last block up to which no logs can come late."""
        self._next: int | None = None
        self._floor = 0
        """Lowest block that may be unwound. The block below it is in the window, unless following
        began here."""
        self._final_tip = -1
        self._confirmed_head: Hash32 | None = None
        self._is_unwinding = False
        self.is_loaded = False
        self.totals = FollowTotals()

    @property
    def tip(self) -> BlockRef | None:
        """Return our newest block. None: there is none yet, or its header is not in the window."""
        return None if self._next is None else self._window.get(self._next - 1)

    def forget(self) -> None:
        """Mark the position in memory as stale after a failure: the stored one may differ."""
        self.is_loaded = False

    async def load(self) -> None:
        """Load the stored position. Raises StoreError."""
        await asyncio.to_thread(self._read_position)
        self._final_tip = -1
        self.is_loaded = True

    async def advance(self, head: Header) -> AsyncIterator[BlockRef | None]:
        """Move step by step to a head, yielding our tip after each step.

        Also ends where the node's answers have changed in the meantime: the next head decides.
        Raises UpstreamError, RangeRefusedError and StoreError.
        """
        while await self._step(head):
            yield self.tip

    async def _step(self, head: Header) -> bool:
        tip = self.tip
        if tip is None:
            first = self._first_block(head)
            return first <= head.number and await self._take(first, head)
        match next_step(tip, head.ref):
            case NoChange():
                return await self._settle(tip)
            case Append():
                await self._store_blocks([head])
                return True
            case CatchUp(number):
                return await self._take(number, head)
            case Unwind(block):
                return await self._drop(block)

    def _first_block(self, head: Header) -> int:
        if self._next is not None:
            return self._next
        start = self._chain.start_block
        return head.number if start is None else start

    # --- forwards -----------------------------------------------------------------------------

    async def _take(self, first: int, head: Header) -> bool:
        final = head.number - self._chain.finality_blocks
        if final - first >= _BLOCKS_AT_ONCE:
            return await self._take_final(first, final, head)
        headers = await fetch_headers(
            self._client, first, min(first + _BLOCKS_AT_ONCE - 1, head.number)
        )
        linked = _linked_prefix(headers)
        if not linked:
            return False  # the node lacks blocks below its own head
        if not self._is_next(linked[0]):
            return await self._drop_tip()
        await self._store_blocks(linked)
        return True

    async def _take_final(self, first: int, final: int, head: Header) -> bool:
        if not await self._is_canonical(head):
            return False  # finality is counted from the head, so the head must be canonical
        if self.tip is not None and self.tip.number > self._final_tip:
            # The node must still have our last tip, which was not final when it was stored.
            following = await fetch_header(self._client, first)
            if following is None:
                return False
            if not self._is_next(following):
                return await self._drop_tip()
        if await self._take_back_late(is_all=True):
            return True
        last = min(first + self._spans.size - 1, final)
        is_recent = first > head.number - self._trade_blocks
        span = join_spans(await self._spans.fetch(first, last, timed=is_recent))
        if self.tip is not None and span.parent_hash != self.tip.hash:
            raise UpstreamError(
                service=self._client.services,
                reason=f"block {first} does not follow block {first - 1} of before",
            )
        # A made-up hash of a block without logs contradicts nothing in the range's own answers, and
        # once stored as final it could never be unwound.
        # A node that is behind may be on an abandoned branch: only one that has the head counts.
        following, newest = await fetch_headers_at(self._client, (last + 1, head.number))
        if newest is None or newest.ref.hash != head.ref.hash:
            return False
        if following is None or following.ref.parent_hash != span.tip.hash:
            raise UpstreamError(
                service=self._client.services,
                reason=f"block {last + 1} does not follow block {last} as it was read",
            )
        self._confirmed = span.last
        await self._store_span(span, keep_from=span.last)
        self._final_tip = span.last
        return True

    async def _is_canonical(self, head: Header) -> bool:
        """True if the node returns this head by its height. Sends one request per head."""
        if self._confirmed_head != head.ref.hash:
            found = await fetch_header(self._client, head.number)
            if found is None or found.ref.hash != head.ref.hash:
                return False
            self._confirmed_head = head.ref.hash
        return True

    def _is_next(self, header: Header) -> bool:
        return self.tip is None or header.ref.parent_hash == self.tip.hash

    async def _store_blocks(self, headers: Sequence[Header]) -> None:
        """Store blocks that follow our tip, unless blocks before them have to be stored again."""
        if await self._take_back_late():
            return
        span, reads = await self._read_blocks(headers)
        if self._next is None:
            self._confirmed = span.first - 1
        # Counted from the stored block, not from the head: nothing has confirmed the head's number.
        keep_from = min(span.last - self._chain.finality_blocks, self._confirmed)
        await self._store_span(span, keep_from=keep_from, reads=reads)

    async def _settle(self, tip: BlockRef) -> bool:
        """Read settled blocks again while there is nothing to store. True: some were unwound."""
        before = self._confirmed
        if not self._second.is_on:
            return False
        try:
            if await self._take_back_late():
                return True
        except UpstreamError:
            return False  # it is repeated before the next block is stored
        if self._confirmed > before:
            keep_from = min(tip.number - self._chain.finality_blocks, self._confirmed)
            self._floor = await asyncio.to_thread(self._raise_floor, keep_from)
            self._forget_below(keep_from)
        return False

    def _raise_floor(self, keep_from: int) -> int:
        floor = max(self._floor, keep_from + 1)
        with self._store.transaction(chain_id=self._chain.id) as tx:
            prune_blocks(tx, chain_id=self._chain.id, below=keep_from)
            raise_floor(tx, chain_id=self._chain.id, number=floor)
        return floor

    async def _take_back_late(self, *, is_all: bool = False) -> bool:
        """Read settled blocks again, and unwind from the first one that lacked logs.

        `is_all`: read all blocks up to the tip. False: nothing was unwound.
        """
        tip = self.tip
        if tip is None:
            return False
        blocks = self._second.next_range(self._confirmed, tip.number, is_all=is_all)
        if not blocks:
            return False
        found = await self._second.read(
            [self._window[number] for number in blocks], self._log_counts, anchor=tip
        )
        self.totals = msgspec.structs.replace(
            self.totals, second_reads=self.totals.second_reads.plus(found.totals)
        )
        self._late = found.late
        if found.first_late is None:
            self._confirmed = blocks[-1]
            return False
        self._confirmed = found.first_late - 1
        await asyncio.to_thread(self._undo, self._window[found.first_late])
        for number in range(found.first_late, tip.number + 1):
            self._forget_block(number)
        self._next = found.first_late
        return True

    async def _read_blocks(
        self, headers: Sequence[Header]
    ) -> tuple[BlockSpan, tuple[BlockReads, ...]]:
        """Read blocks and, where tokens are watched, the data on these."""
        reading = asyncio.create_task(
            self._watch.fetch(headers, has_filters=self._reader.has_filters)
        )
        try:
            span = await self._reader.fetch_blocks(
                headers, topics=self._ingest.block_topics, known=self._late
            )
            return span, await reading
        finally:
            reading.cancel()

    async def _store_span(
        self, span: BlockSpan, *, keep_from: int, reads: tuple[BlockReads, ...] | None = None
    ) -> None:
        """Store a span. `reads` None: its blocks were not read one by one."""
        written, self._floor, seen = await asyncio.to_thread(self._commit, span, keep_from, reads)
        for header in span.headers:
            self._window[header.number] = header.ref
        self._log_counts |= span.log_counts
        self._forget_below(keep_from)
        self._next = span.last + 1
        self._is_unwinding = False
        self.totals = msgspec.structs.replace(
            self.totals,
            blocks=self.totals.blocks + span.last - span.first + 1,
            written=self.totals.written.plus(written),
            watched=self.totals.watched.plus(seen),
        )
        self._log.debug(
            "ingested",
            first=span.first,
            last=span.last,
            logs=written.logs,
            pools=written.pools,
            launches=written.launches,
            transfers=written.transfers,
            trades=written.trades,
            liquidity=written.liquidity,
            undecoded=written.undecoded,
        )

    def _commit(
        self, span: BlockSpan, keep_from: int, reads: tuple[BlockReads, ...] | None
    ) -> tuple[WrittenSpan, int, WatchTotals]:
        """Store a span; return the written rows, the new floor, and the observations of watched
        tokens."""
        with self._store.transaction(chain_id=self._chain.id) as tx:
            checkpoint = read_checkpoint(tx, chain_id=self._chain.id, stream=FOLLOW)
            if checkpoint is not None and checkpoint.number != span.first - 1:
                reason = f"the checkpoint is at {checkpoint.number}, not before {span.first}"
                raise InternalError(reason)
            written = self._ingest.write(tx, span, stream=FOLLOW)
            prune_blocks(tx, chain_id=self._chain.id, below=keep_from)
            # With no checkpoint the span is our first: no blocks below it were read.
            lowest = span.first if checkpoint is None else self._floor
            floor = max(lowest, keep_from + 1)
            raise_floor(tx, chain_id=self._chain.id, number=floor)
            if reads is not None:  # ranges lack the times of most blocks
                self._check_predictions(tx, span, reads)
            seen = self._watch.write(tx, span, reads)
        return written, floor, seen

    def _check_predictions(
        self, tx: Transaction, span: BlockSpan, reads: tuple[BlockReads, ...]
    ) -> None:
        write_checks(
            tx,
            span.logs,
            [header.ref for header in span.headers],
            reads,
            chain_id=self._chain.id,
            facts=self._trade_facts,
            now_s=time.time(),
        )

    def _forget_below(self, number: int) -> None:
        """Remove blocks below a number from the window. They are in order, so only those are
        visited."""
        while self._window and (lowest := next(iter(self._window))) < number:
            self._forget_block(lowest)

    def _forget_block(self, number: int) -> None:
        self._window.pop(number, None)
        self._log_counts.pop(number, None)

    # --- backwards ----------------------------------------------------------------------------

    async def _drop_tip(self) -> bool:
        return self.tip is not None and await self._drop(self.tip)

    async def _drop(self, block: BlockRef) -> bool:
        """Unwind our tip and the blocks below it that the node has replaced. False: the node still
        has the tip when queried by height.

        Raises UpstreamError, with nothing unwound, if the node's chain has left ours below the
        floor.
        """
        # If following began above it, no block is final, and the whole window may be unwound.
        final = self._window.get(self._floor - 1)
        refs = [*self._unwindable(block), *([] if final is None else [final])]
        found = await fetch_headers_at(self._client, [ref.number for ref in refs])
        canonical = dict(zip((ref.number for ref in refs), found, strict=True))
        if _is_on(canonical[block.number], block):
            return False  # the head given is outdated
        if final is not None:
            self._check_final(final, canonical[final.number])
        # A node that lags lacks some of these blocks, which does not mean that they are replaced.
        below = itertools.takewhile(
            lambda ref: _is_replaced(canonical[ref.number], ref), self._unwindable(block)[1:]
        )
        gone = [block, *below]
        await asyncio.to_thread(self._undo, gone[-1])
        for ref in gone:
            self._log.info("reorganised away", block=ref.number, hash=ref.hash)
            self._forget_block(ref.number)
        self._next = gone[-1].number
        self._confirmed = min(self._confirmed, self._next - 1)
        self.totals = msgspec.structs.replace(
            self.totals,
            reorgs=self.totals.reorgs + (not self._is_unwinding),
            unwound_blocks=self.totals.unwound_blocks + len(gone),
        )
        self._is_unwinding = True
        return True

    def _unwindable(self, tip: BlockRef) -> list[BlockRef]:
        """Return the tip, and blocks below it that may be unwound with it, highest first."""
        lowest = max(self._floor, tip.number - _UNWOUND_AT_ONCE + 1)
        return [tip, *(self._window[at] for at in range(tip.number - 1, lowest - 1, -1))]

    def _check_final(self, final: BlockRef, found: Header | None) -> None:
        """Check that the node's chain has our newest block that cannot be unwound."""
        if _is_on(found, final):
            return
        answer = "no such block" if found is None else found.ref.hash
        reason = (
            f"its chain has left ours at block {final.number} or below, which was final: "
            f"{final.hash} here, there {answer}; nothing was unwound, and following resumes "
            "once the node is back on our chain. If this is another chain with the same id, "
            "give it a separate store"
        )
        raise UpstreamError(service=self._client.services, reason=reason)

    def _undo(self, block: BlockRef) -> None:
        with self._store.transaction(chain_id=self._chain.id) as tx:
            unwind_from(tx, chain_id=self._chain.id, number=block.number)

    def _read_position(self) -> None:
        """Read the stored window, the tracked tokens and the young pools.

        Blocks in the window above our checkpoint are unwound: back-fills of an earlier release have
        left them, and no follower has checked them for reorgs.
        """
        with self._store.snapshot() as reader:
            self._ingest.warm(reader)
            self._watch.warm(reader)
            checkpoint = read_checkpoint(reader, chain_id=self._chain.id, stream=FOLLOW)
            rows = list_blocks(reader, chain_id=self._chain.id)
            floor = read_floor(reader, chain_id=self._chain.id)
            if checkpoint is not None:
                self._ingest.warm_young_pools(reader, tip=checkpoint.number)
        tip = -1 if checkpoint is None else checkpoint.number
        unwatched = [row.number for row in rows if row.number > tip]
        if unwatched:
            with self._store.transaction(chain_id=self._chain.id) as tx:
                unwind_from(tx, chain_id=self._chain.id, number=unwatched[0])
        followed = [row.ref for row in rows if row.number <= tip]
        self._window = {ref.number: ref for ref in followed}
        self._log_counts = {row.number: row.log_count for row in rows if row.log_count is not None}
        self._late = {}
        self._next = None if checkpoint is None else checkpoint.number + 1
        # A store that an earlier release has followed has no floor yet.
        self._floor = floor or (followed[0].number + 1 if followed else tip + 1)
        self._confirmed = self._floor - 1


def _is_on(found: Header | None, ref: BlockRef) -> bool:
    """True if the node's block at that height is this block."""
    return found is not None and found.ref.hash == ref.hash


def _is_replaced(found: Header | None, ref: BlockRef) -> bool:
    """True if the node has another block at a block's height."""
    return found is not None and found.ref.hash != ref.hash


def _linked_prefix(headers: Sequence[Header | None]) -> list[Header]:
    """Return the blocks up to the first that is missing or does not follow its parent."""
    linked: list[Header] = []
    for header in headers:
        if header is None or (linked and header.ref.parent_hash != linked[-1].ref.hash):
            break
        linked.append(header)
    return linked
