"""Reads of final blocks by range, with a range size that adapts to the nodes."""

from collections.abc import Sequence

from config.settings import IndexerSettings
from core.evm.primitives import Address, BlockRef, Hash32
from core.rpc.failures import (
    AnswerTimeoutError,
    AnswerTooLargeError,
    QueryFailedError,
    RangeRefusedError,
    RateLimitedError,
)
from core.rpc.ranges import LogRange
from indexer.block_spans import BlockSpan
from indexer.log_reader import LogReader


class SpanReader:
    """Reader with an adaptive range size; concurrent fetches may share one."""

    def __init__(
        self,
        reader: LogReader,
        settings: IndexerSettings,
        *,
        topics: Sequence[Hash32],
        timed_topics: Sequence[Hash32] = (),
    ) -> None:
        """Read logs of `topics`. `timed_topics`: logs that are useless without the time of their
        block."""
        self._reader = reader
        self._topics = topics
        self._timed_topics = timed_topics
        self._tells_times = True
        """True while every log came with a time."""
        self._range = LogRange(size=settings.initial_log_range, largest=settings.max_log_range)

    @property
    def size(self) -> int:
        """Return the current range size in blocks."""
        return self._range.size

    async def fetch(
        self, first: int, last: int, *, timed: bool = False, anchor: BlockRef | None = None
    ) -> list[BlockSpan]:
        """Fetch `first` to `last` and return the spans in order.

        `timed`: include logs of `timed_topics` while the nodes send times with logs. `anchor`: see
        `LogReader.fetch_range`. Raises RangeRefusedError if even a single block is too much,
        UpstreamError otherwise.
        """
        spans: list[BlockSpan] = []
        at = first
        while at <= last:
            end = self._range.last_block(at, bound=last)
            topics = (
                (*self._topics, *self._timed_topics)
                if timed and self._tells_times
                else self._topics
            )
            span = await self._try(at, end, topics, anchor=anchor)
            if span is not None:
                self._tells_times &= not span.logs.lacks_times()
                spans.append(span)
                at = end + 1
        return spans

    async def fetch_back(self, last: int, *, address: Address, anchor: BlockRef) -> BlockSpan:
        """Fetch the logs of one contract up to `last`, over the current range size.

        Raises as `fetch` does.
        """
        while True:
            first = max(0, last - self.size + 1)
            span = await self._try(first, last, self._topics, address=address, anchor=anchor)
            if span is not None:
                return span

    async def _try(
        self,
        first: int,
        last: int,
        topics: Sequence[Hash32],
        *,
        address: Address | None = None,
        anchor: BlockRef | None,
    ) -> BlockSpan | None:
        length = last - first + 1
        try:
            span = await self._reader.fetch_range(
                first, last, topics=topics, address=address, anchor=anchor
            )
        except RangeRefusedError as error:
            if length == 1:
                raise
            self._range = self._range.after_refusal(length, suggested=_length(error, first=first))
            return None
        except (AnswerTimeoutError, AnswerTooLargeError, QueryFailedError, RateLimitedError):
            if length == 1:
                raise
            self._range = self._range.after_refusal(length)
            return None
        self._range = self._range.after_success(length, logs=len(span.logs))
        return span


def _length(error: RangeRefusedError, *, first: int) -> int | None:
    """Return the number of blocks from `first` that the node suggests. None: no suggestion."""
    return None if error.suggested is None else error.suggested[1] - first + 1
