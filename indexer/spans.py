"""Final blocks by range: as large as the nodes allow, smaller when they refuse."""

from collections.abc import Sequence

from config.primitives import Hash32
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
        self, client: RpcClient, settings: IndexerSettings, *, topics: Sequence[Hash32]
    ) -> None:
        self._client = client
        self._topics = topics
        self._range = LogRange(size=settings.initial_log_range, largest=settings.max_log_range)

    @property
    def size(self) -> int:
        """Blocks that are asked for at once now."""
        return self._range.size

    async def fetch(self, first: int, last: int) -> list[Piece]:
        """The pieces that `first` to `last` came in, in order.

        Raises UpstreamError when even a single block is too much, or for other reasons.
        """
        pieces: list[Piece] = []
        at = first
        while at <= last:
            end = self._range.last_block(at, bound=last)
            piece = await self._try(at, end)
            if piece is not None:
                pieces.append(piece)
                at = end + 1
        return pieces

    async def _try(self, first: int, last: int) -> Piece | None:
        asked = last - first + 1
        try:
            piece = await fetch_range(self._client, first, last, topics=self._topics)
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
