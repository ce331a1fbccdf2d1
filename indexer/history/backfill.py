"""Resumable back-fill of a block range, with a separate checkpoint.

Several sub-ranges are fetched concurrently; one writer commits them in order, in transactions of
about `indexer.commit_rows` logs. After a stop, the next run continues after the checkpoint.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing

import msgspec
import structlog

from config.facts.chain import Chain
from config.settings import IndexerSettings
from core.errors import CallerError, InternalError, UpstreamError
from core.evm.primitives import BlockRef
from core.rpc.backoff import SleepClock, SystemClock, backoff_s
from core.rpc.client import RpcClient
from core.rpc.failures import DisagreementError
from indexer.block_spans import BlockSpan, GatheredSpan, fetch_headers, fetch_headers_at
from indexer.history.bulk_writer import LEAST_LOGS, BulkWriter
from indexer.ingest import Ingest, WrittenSpan
from indexer.log_reader import LogReader
from indexer.span_reader import SpanReader
from sql.chain.blocks import BACKFILL, FINAL, FOLLOW, list_blocks, read_checkpoint
from sql.engine.database import Transaction
from sql.engine.store import Readable, Store
from sql.engine.table_rows import BlockRow
from sql.lake.final_events import FinalEvents

_FETCHES_AT_ONCE = 4
_BLOCKS_AT_ONCE = 32
_COMMIT_EVERY_S = 15.0
"""Most seconds between commits, so that a slow node's logs do not stay unsaved."""
_TRIES = 8
"""Failures in a row before the back-fill raises; it can be resumed."""
_FIRST_PAUSE_S = 0.5
_MOST_PAUSE_S = 30.0

_log = structlog.get_logger(__name__)


class BackfillProgress(msgspec.Struct, frozen=True, kw_only=True):
    """Progress of a back-fill, earlier runs included."""

    from_block: int
    to_block: int
    done_to: int
    """Last committed block; `from_block` - 1 at the start."""
    written: WrittenSpan
    """Rows and logs of this run."""


class BackfillResult(msgspec.Struct, frozen=True, kw_only=True):
    """Result of one run of a back-fill."""

    rows: int
    """Rows that are new in the store."""
    logs: int
    """Logs that were read."""
    done_to: int
    """Last committed block. Below the range's end if the next block is not final yet and not in the
    window of the follower."""
    seconds: float

    @property
    def logs_per_s(self) -> float:
        """Return logs per second of this run; 0 when there was nothing to do."""
        return self.logs / self.seconds if self.seconds > 0 else 0.0


class BeyondHeadError(CallerError):
    """The requested range ends above the node's head."""

    def __init__(self, *, to_block: int, head: int) -> None:
        super().__init__(f"block {to_block} does not exist yet; the head is block {head}")


BackfillReport = Callable[[BackfillProgress], None]


async def backfill(
    chain: Chain,
    client: RpcClient,
    store: Store,
    settings: IndexerSettings,
    *,
    from_block: int,
    to_block: int,
    progress: BackfillReport | None = None,
    clock: SleepClock | None = None,
) -> BackfillResult:
    """Ingest `from_block` to `to_block`, ends included.

    Continues after the checkpoint of the same range, if there is one. Blocks that are not final yet
    are taken only if they are in the follower's window, as following unwinds them in a reorg. The
    result names the last stored block. Raises BeyondHeadError, UpstreamError when nodes do not
    answer or contradict each other, and StoreError.
    """
    run = _Run(chain, client, store, settings, from_block=from_block, to_block=to_block)
    try:
        return await _run_out(run, clock or SystemClock(), progress)
    finally:
        run.close()


async def _run_out(
    run: "_Run", time_source: SleepClock, progress: BackfillReport | None
) -> BackfillResult:
    started_s = time_source.now_s()
    failures = 0
    done_to: int | None = None
    while True:
        try:
            async for step in run.steps():
                # The first step of each try only yields the starting point: that is no progress.
                if step.done_to != done_to:
                    failures, done_to = 0, step.done_to
                if progress is not None:
                    progress(step)
            break
        except UpstreamError as error:
            failures += 1
            if failures >= _TRIES or not run.has_begun:
                raise
            _log.warning("back-fill paused, retrying", chain=run.slug, reason=str(error))
            await time_source.sleep(
                backoff_s(failures, first_s=_FIRST_PAUSE_S, most_s=_MOST_PAUSE_S)
            )
    return BackfillResult(
        rows=run.written.rows,
        logs=run.written.logs,
        done_to=run.done_to,
        seconds=time_source.now_s() - started_s,
    )


class _Run:
    """State of one run: a range of one chain, its fetches and its commits."""

    def __init__(
        self,
        chain: Chain,
        client: RpcClient,
        store: Store,
        settings: IndexerSettings,
        *,
        from_block: int,
        to_block: int,
    ) -> None:
        self._chain = chain
        self.slug = chain.slug
        self._client = client
        self._store = store
        self._commit_rows = settings.commit_rows
        self._ingest = Ingest(chain)
        self._reader = LogReader(client)
        self._spans = SpanReader(
            self._reader,
            settings,
            topics=self._ingest.topics,
            timed_topics=self._ingest.timed_topics,
        )
        self._trade_blocks = chain.blocks_in(settings.trades_kept_s)
        self._trades_from = 0
        self._from = from_block
        self._to = to_block
        self._stream = f"{BACKFILL}{from_block}:{to_block}"
        self._final = FinalEvents(store.address)
        self._bulk = BulkWriter(chain, store, self._ingest, self._final, stream=self._stream)
        self.written = WrittenSpan()
        self.done_to = from_block - 1
        self.has_begun = False
        """True once the node has answered, so later failures are retried."""

    def close(self) -> None:
        """Close the resources that the run has opened."""
        self._final.close()

    async def steps(self) -> AsyncIterator[BackfillProgress]:
        """Commit spans as far as the range can be stored now. Yields the starting point, then
        after each span. Raises as `backfill` does."""
        at = await asyncio.to_thread(self._read_next)
        yield self._note(at - 1)
        while at <= self._to:
            begun_at = at
            final, anchor = await self._fetch_final()
            async with aclosing(self._gathered(at, final, anchor)) as gathered_spans:
                async for gathered in gathered_spans:
                    await self._save(gathered, is_final=True)
                    at = gathered.span.last + 1
                    yield self._note(gathered.span.last)
            if at > final:
                async with aclosing(self._followed_spans(at)) as gathered_spans:
                    async for gathered in gathered_spans:
                        await self._save(gathered, is_final=False)
                        at = gathered.span.last + 1
                        yield self._note(gathered.span.last)
            # While a long range was read, more of it has become final.
            if at == begun_at:
                return

    async def _fetch_final(self) -> tuple[int, BlockRef]:
        """Return the number of the range's last final block, and a canonical block at or above it.

        A node that is behind may be on an abandoned branch.
        """
        head = await self._client.fetch_head()
        self.has_begun = True
        if self._to > head.number:
            raise BeyondHeadError(to_block=self._to, head=head.number)
        self._trades_from = head.number - self._trade_blocks + 1
        final = head.number - self._chain.finality_blocks
        if final < self._from:
            return final, head
        # A final block instead of the head: the head may be reorganised away while the range is
        # read.
        (block,) = await fetch_headers_at(self._client, [final], anchor=head)
        if block is None:
            raise UpstreamError(service=self._client.services, reason=f"lacks block {final}")
        return min(self._to, final), block.ref

    async def _followed_spans(self, first: int) -> AsyncGenerator[GatheredSpan, None]:
        """Yield the blocks from `first` in the follower's window, as read from the nodes."""
        while first <= self._to:
            last = min(first + _BLOCKS_AT_ONCE - 1, self._to)
            followed = await asyncio.to_thread(self._list_followed, self._store, first, last)
            if not followed:
                return
            last = followed[-1].number
            headers = await fetch_headers(self._client, first, last)
            present = [header for header in headers if header is not None]
            if len(present) < len(headers):
                raise UpstreamError(service=self._client.services, reason=f"lacks block {last}")
            read = await self._reader.fetch_blocks(present, topics=self._ingest.block_topics)
            yield GatheredSpan([read])
            first = last + 1

    async def _gathered(
        self, first: int, last: int, anchor: BlockRef
    ) -> AsyncGenerator[GatheredSpan, None]:
        """Yield final blocks in spans large enough for a transaction. Nothing else refers to their
        logs."""
        gathered: list[BlockSpan] = []
        logs = 0
        since_s = time.monotonic()
        async with aclosing(self._fetched(first, last, anchor)) as fetched:
            async for spans in fetched:
                gathered += spans
                logs += sum(len(span.logs) for span in spans)
                spans.clear()
                if logs >= self._commit_rows or time.monotonic() - since_s >= _COMMIT_EVERY_S:
                    yield _emptied(gathered)
                    logs, since_s = 0, time.monotonic()
        if gathered:
            yield _emptied(gathered)

    async def _fetched(
        self, first: int, last: int, anchor: BlockRef
    ) -> AsyncGenerator[list[BlockSpan], None]:
        """Yield final blocks in order, while the next ones are being fetched."""
        under_way: deque[asyncio.Task[list[BlockSpan]]] = deque()
        at = first
        try:
            while at <= last or under_way:
                while at <= last and len(under_way) < _FETCHES_AT_ONCE:
                    end = min(at + self._spans.size - 1, last)
                    is_timed = at >= self._trades_from
                    fetching = self._spans.fetch(at, end, timed=is_timed, anchor=anchor)
                    under_way.append(asyncio.create_task(fetching))
                    at = end + 1
                yield await under_way[0]
                under_way.popleft()
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _save(self, gathered: GatheredSpan, *, is_final: bool) -> None:
        written = await asyncio.to_thread(self._commit, gathered, is_final=is_final)
        self.written = self.written.plus(written)

    def _check_continues(self, tx: Transaction, first: int) -> None:
        checkpoint = read_checkpoint(tx, chain_id=self._chain.id, stream=self._stream)
        at = self._from - 1 if checkpoint is None else checkpoint.number
        if max(at, self._from - 1) != first - 1:
            reason = f"the checkpoint has moved to {at}: another run, or a reorganisation"
            raise InternalError(reason)

    def _commit(self, gathered: GatheredSpan, *, is_final: bool) -> WrittenSpan:
        self._final.open()
        span = gathered.span
        first, last, logs = span.first, span.last, len(span.logs)
        del span
        if is_final and logs >= LEAST_LOGS and self._is_never_followed(last):
            return self._bulk.write(gathered, check=lambda tx: self._check_continues(tx, first))
        with self._store.transaction(chain_id=self._chain.id) as tx:
            self._check_continues(tx, first)
            if not is_final:
                self._check_followed(tx, gathered.span)
            return self._ingest.write(tx, gathered.span, stream=self._stream, final=self._final)

    def _is_never_followed(self, number: int) -> bool:
        """True if following will not store a block: it does not search the lake for its rows."""
        if read_checkpoint(self._store, chain_id=self._chain.id, stream=FOLLOW) is None:
            return self._chain.start_block is None or number < self._chain.start_block
        final = read_checkpoint(self._store, chain_id=self._chain.id, stream=FINAL)
        return final is not None and number <= final.number

    def _check_followed(self, tx: Transaction, span: BlockSpan) -> None:
        """Check that the follower's window has exactly these blocks."""
        followed = {row.number: row.hash for row in self._list_followed(tx, span.first, span.last)}
        for header in span.headers:
            if followed.get(header.number) != header.ref.hash:
                raise DisagreementError(
                    first=f"block {header.number} ({header.ref.hash})",
                    second="the block in the follower's window",
                    difference="one of them is being reorganised away",
                )

    def _list_followed(self, store: Readable, first: int, last: int) -> list[BlockRow]:
        """Return the blocks from `first` in the follower's window, up to the first gap."""
        followed = read_checkpoint(store, chain_id=self._chain.id, stream=FOLLOW)
        if followed is None:
            return []
        last = min(last, followed.number)
        rows = list_blocks(store, chain_id=self._chain.id, first=first, last=last)
        return [row for number, row in enumerate(rows, first) if row.number == number]

    def _read_next(self) -> int:
        with self._store.snapshot() as reader:
            self._ingest.warm(reader)
            checkpoint = read_checkpoint(reader, chain_id=self._chain.id, stream=self._stream)
        return self._from if checkpoint is None else max(self._from, checkpoint.number + 1)

    def _note(self, done_to: int) -> BackfillProgress:
        self.done_to = done_to
        return BackfillProgress(
            from_block=self._from, to_block=self._to, done_to=done_to, written=self.written
        )


def _emptied(gathered: list[BlockSpan]) -> GatheredSpan:
    """Join these spans and empty the list."""
    whole = GatheredSpan(gathered)
    gathered.clear()
    return whole
