"""Final blocks by range: as large as the nodes allow, smaller when they refuse."""

from collections.abc import Sequence

from config.primitives import Address, Hash32
from config.settings import IndexerSettings
from indexer.failures import (
    AnswerTimeoutError,
    AnswerTooLargeError,
    RangeRefusedError,
    RateLimitedError,
)
from indexer.ranges import LogRange
from indexer.reads import Piece, fetch_range
from indexer.rpc import RpcClient


class SpanReader:
    """Learns how many blocks can be asked for at once; several fetches may share one."""

    def __init__(
        self,
        client: RpcClient,
        settings: IndexerSettings,
        *,
        topics: Sequence[Hash32],
        timed_topics: Sequence[Hash32] = (),
    ) -> None:
        """`timed_topics`: of logs that are worth nothing without the time of their block."""
        self._client = client
        self._topics = topics
        self._timed_topics = timed_topics
        self._tells_times = True
        """No log has come without a time so far."""
        self._range = LogRange(size=settings.initial_log_range, largest=settings.max_log_range)

    @property
    def size(self) -> int:
        """Blocks that are asked for at once now."""
        return self._range.size

    async def fetch(self, first: int, last: int, *, timed: bool = False) -> list[Piece]:
        """The pieces that `first` to `last` came in, in order.

        `timed`: with the logs of `timed_topics`, as long as the nodes tell times with logs.
        Raises RangeRefusedError when even a single block is too much, UpstreamError else.
        """
        pieces: list[Piece] = []
        at = first
        while at <= last:
            end = self._range.last_block(at, bound=last)
            topics = (
                (*self._topics, *self._timed_topics)
                if timed and self._tells_times
                else self._topics
            )
            piece = await self._try(at, end, topics)
            if piece is not None:
                self._tells_times &= piece.logs["time_s"].null_count() == 0
                pieces.append(piece)
                at = end + 1
        return pieces

    async def fetch_back(self, last: int, *, address: Address) -> Piece:
        """What one contract logged up to `last`, from as far back as can be asked for at once.

        Raises as `fetch` does.
        """
        while True:
            first = max(0, last - self.size + 1)
            piece = await self._try(first, last, self._topics, address=address)
            if piece is not None:
                return piece

    async def _try(
        self,
        first: int,
        last: int,
        topics: Sequence[Hash32],
        *,
        address: Address | None = None,
    ) -> Piece | None:
        asked = last - first + 1
        try:
            piece = await fetch_range(self._client, first, last, topics=topics, address=address)
        except RangeRefusedError as error:
            if asked == 1:
                raise
            self._range = self._range.after_refusal(asked, suggested=_length(error, first=first))
            return None
        except (AnswerTimeoutError, AnswerTooLargeError, RateLimitedError):
            if asked == 1:
                raise
            self._range = self._range.after_refusal(asked)
            return None
        self._range = self._range.after_success(asked)
        return piece


def _length(error: RangeRefusedError, *, first: int) -> int | None:
    """Blocks the node would answer for, from where we asked."""
    return None if error.suggested is None else error.suggested[1] - first + 1
