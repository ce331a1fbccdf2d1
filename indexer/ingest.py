"""Writer of a span: rows, tracking, coverage, window and checkpoint in one transaction."""

from collections.abc import Sequence

import msgspec

from config.facts.chain import Chain
from core.evm.primitives import Hash32
from indexer.block_spans import BlockSpan
from indexer.chain_tokens import ChainTokens
from indexer.early_events import EarlyEvents
from indexer.event_rows import transfer_rows
from indexer.events import (
    EventKind,
    FoundTransfers,
    LiquidityEvents,
    PoolCreationEvents,
    ReadEvents,
    Reading,
    SpanWrite,
    SwapEvents,
    TokenLaunchEvents,
    TransferEvents,
    UndecodedEvents,
)
from indexer.feed_events import FeedEvents
from indexer.young_pools import YoungPools
from sql.chain.blocks import FOLLOW, insert_block_times, insert_blocks, write_checkpoint
from sql.chain.filled_spans import FillRun, insert_old_transfers
from sql.chain.pool_tables import list_coverage
from sql.chain.transfer_tables import insert_transfers
from sql.engine.database import Reader, Transaction
from sql.engine.store import Readable
from sql.engine.table_rows import BlockRow, CheckpointRow, CoverageRow, TransferRow
from sql.lake.final_events import FinalEvents
from sql.tokens.tokens import complete_transfers


def extend_all(
    tx: Transaction, *, chain_id: int, subjects: Sequence[str], first: int, last: int
) -> None:
    """Add blocks `first` to `last` to every subject.

    A chain has a few dozen rows: only changed ones are written. Raises StoreError.
    """
    known = list_coverage(tx, chain_id=chain_id)
    joined = join_coverage(known, chain_id=chain_id, subjects=subjects, first=first, last=last)
    for gone in set(known) - set(joined):
        tx.execute(
            "coverage/delete_range",
            chain_id=chain_id,
            subject=gone.subject,
            from_block=gone.from_block,
        )
    tx.insert("coverage", [row for row in joined if row not in set(known)])


def join_coverage(
    known: Sequence[CoverageRow],
    *,
    chain_id: int,
    subjects: Sequence[str],
    first: int,
    last: int,
) -> list[CoverageRow]:
    """Return the ranges of each subject with the new one, joined where they touch or overlap."""
    others = [row for row in known if row.subject not in subjects]
    return others + [
        row
        for subject in subjects
        for row in _joined(
            [row for row in known if row.subject == subject],
            CoverageRow(chain_id=chain_id, subject=subject, from_block=first, to_block=last),
        )
    ]


def _joined(known: Sequence[CoverageRow], new: CoverageRow) -> list[CoverageRow]:
    touching = [
        row
        for row in known
        if row.from_block <= new.to_block + 1 and row.to_block >= new.from_block - 1
    ]
    whole = CoverageRow(
        chain_id=new.chain_id,
        subject=new.subject,
        from_block=min(row.from_block for row in (new, *touching)),
        to_block=max(row.to_block for row in (new, *touching)),
    )
    return [row for row in known if row not in touching] + [whole]


class WrittenSpan(msgspec.Struct, frozen=True, kw_only=True):
    """Number of logs read, and of new rows of each kind."""

    logs: int = 0
    pools: int = 0
    launches: int = 0
    transfers: int = 0
    trades: int = 0
    early: int = 0
    liquidity: int = 0
    undecoded: int = 0
    feed: int = 0

    @property
    def rows(self) -> int:
        """Return the number of rows of all kinds."""
        counts: dict[str, int] = msgspec.structs.asdict(self)
        return sum(counts.values()) - self.logs

    def plus(self, other: "WrittenSpan") -> "WrittenSpan":
        """Return the sum of both."""
        counts = msgspec.structs.asdict(other)
        return WrittenSpan(
            **{name: count + counts[name] for name, count in msgspec.structs.asdict(self).items()}
        )


class StoredFacts(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Counts of a span's stored rows, and its transfers, which are not stored yet."""

    written: WrittenSpan
    found: FoundTransfers


class Ingest:
    """Kinds of events and topics of one chain, and the writing of its spans."""

    def __init__(self, chain: Chain, *, unwound_blocks: int | None = None) -> None:
        """`unwound_blocks`: most blocks that following unwinds. None: the chain's finality."""
        self._chain_id = chain.id
        self._tokens = ChainTokens(chain.id)
        self._young_pools = YoungPools(
            chain,
            unwound_blocks=chain.finality_blocks if unwound_blocks is None else unwound_blocks,
        )
        self._announcements: tuple[EventKind, ...] = (
            TokenLaunchEvents(chain),
            PoolCreationEvents(chain),
        )
        """Kinds that announce tokens."""
        self._transfers = TransferEvents(self._tokens)
        self._events: tuple[EventKind, ...] = (
            SwapEvents(chain, self._tokens),
            EarlyEvents(chain, self._tokens),
            LiquidityEvents(chain, self._young_pools),
            UndecodedEvents(chain),
            FeedEvents(chain),
        )
        self._kinds: tuple[ReadEvents, ...] = (
            *self._announcements,
            self._transfers,
            *self._events,
        )
        self.topics = self._topics_of("always")
        """Topics of the logs that must be read."""
        self.timed_topics = self._topics_of("timed")
        """Topics of logs that are kept only where the time of their block is known."""
        self.followed_topics = self._topics_of("always", "followed")
        """Topics that the follow stream reads in addition to `timed_topics`."""
        self.block_topics = self._topics_of("always", "followed", "timed")
        """All topics, for blocks that are read one by one."""

    def warm(self, store: Readable) -> None:
        """Read the tracked tokens before the first transaction, which would block other writers.
        Raises StoreError."""
        self._tokens.refresh(store)

    def warm_young_pools(self, reader: Reader, *, tip: int) -> None:
        """Read the young pools, before the follow stream goes on from `tip`. Raises StoreError."""
        self._young_pools.load(reader, tip=tip)

    def write(
        self,
        tx: Transaction,
        span: BlockSpan,
        *,
        stream: str,
        final: FinalEvents | None = None,
    ) -> WrittenSpan:
        """Store a span and move the stream's checkpoint to its end. Raises StoreError.

        Runs first in the caller's transaction. Only the follow stream, which continues to the head,
        makes the transfers of tokens complete and adds the span's blocks to the window. `final`:
        lookup of events that a back-fill may find already stored. None: the span is new.
        """
        facts = self.write_facts(tx, span, stream=stream, final=final)
        transfers = self._insert_transfers(
            tx,
            transfer_rows(facts.found.transfers, facts.found.token_ids),
            FillRun(stream=stream, first=span.first, last=span.last),
        )
        self.finish(tx, span, stream=stream)
        return msgspec.structs.replace(facts.written, transfers=transfers)

    def write_facts(
        self,
        tx: Transaction,
        span: BlockSpan,
        *,
        stream: str,
        final: FinalEvents | None = None,
    ) -> StoredFacts:
        """Store all events of a span but its transfers. Idempotent.

        Coverage and checkpoint are left to `finish`, once the transfers are stored as well.
        """
        write = SpanWrite(tx=tx, span=span, stream=stream, final=final)
        self._tokens.refresh(tx)
        counts = {kind.name: kind.store(write) for kind in self._announcements}
        if write.announces_tokens:
            self._tokens.look_ahead(tx)
        if write.is_followed:
            self._insert_blocks(tx, span)
            complete_transfers(tx, chain_id=self._chain_id, first=span.first)
        found = self._transfers.find(write)
        write.found = found
        counts |= {kind.name: kind.store(write) for kind in self._events}
        times = span.times_of(write.dated)
        insert_block_times(tx, times, chain_id=self._chain_id)
        return StoredFacts(written=WrittenSpan(logs=len(span.logs), **counts), found=found)

    def finish(self, tx: Transaction, span: BlockSpan, *, stream: str) -> None:
        """Mark a span as complete: store its coverage and the stream's checkpoint."""
        extend_all(
            tx,
            chain_id=self._chain_id,
            subjects=[
                subject
                for kind in self._kinds
                if kind.reading != "followed" or stream == FOLLOW
                for subject in kind.subjects
            ],
            first=span.first,
            last=span.last,
        )
        write_checkpoint(
            tx,
            CheckpointRow(
                chain_id=self._chain_id, stream=stream, number=span.last, hash=span.tip.hash
            ),
        )

    def _topics_of(self, *readings: Reading) -> tuple[Hash32, ...]:
        """Return the distinct topics of the kinds that are read in one of these ways."""
        return tuple(
            dict.fromkeys(
                topic
                for reading in readings
                for kind in self._kinds
                if kind.reading == reading
                for topic in kind.topics
            )
        )

    def _insert_transfers(self, tx: Transaction, rows: Sequence[TransferRow], run: FillRun) -> int:
        """Followed transfers are new, or not final yet; filled ones may be known already."""
        if run.stream == FOLLOW:
            return insert_transfers(tx, rows, chain_id=self._chain_id)
        return insert_old_transfers(tx, rows, chain_id=self._chain_id, run=run)

    def _insert_blocks(self, tx: Transaction, span: BlockSpan) -> None:
        """Add the span's blocks to the window."""
        counts = span.log_counts
        insert_blocks(
            tx,
            [
                BlockRow(
                    chain_id=self._chain_id,
                    number=header.ref.number,
                    hash=header.ref.hash,
                    parent_hash=header.ref.parent_hash,
                    time_s=header.ref.time_s,
                    log_count=counts.get(header.ref.number),
                )
                for header in span.headers
            ],
        )
