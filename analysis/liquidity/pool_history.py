"""Pool history: the events of a pool since it began, or of its first blocks where a node refuses to
search them all."""

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from analysis.liquidity.holdings import history_query
from analysis.market.venues.pool import Candidate
from analysis.reads.chain_reads import RequestHandle
from analysis.reads.read_batch import ReadBatch
from core.rpc.messages import RpcAnswer

FIRST_BLOCKS: Final = 500
"""Blocks behind a pool's creation that are searched alone too: nodes that refuse more allow so
many, and most liquidity of a young pool came in them."""

T = TypeVar("T")


class PoolHistory(Generic[T]):
    """Queries of one pool's events of a kind, in one batch."""

    def __init__(
        self,
        batch: ReadBatch,
        pool: Candidate,
        topics: Sequence[object],
        *,
        from_block: int | None,
        to_block: int,
        returns: Callable[[RpcAnswer], tuple[T, ...] | None],
    ) -> None:
        """`from_block`: as of `history_query`. `returns`: decoder; None: the node refused."""
        self._batch = batch
        query = history_query(pool, topics, from_block=from_block, to_block=to_block)
        self._all = batch.request(query, returns=returns)
        self._first: RequestHandle[tuple[T, ...] | None] | None = None
        if from_block is not None and to_block - from_block > FIRST_BLOCKS:
            last = from_block + FIRST_BLOCKS
            first = history_query(pool, topics, from_block=from_block, to_block=last)
            self._first = batch.request(first, returns=returns)

    @property
    def is_whole(self) -> bool:
        """True if all blocks were searched. Raises UpstreamError."""
        return self._batch[self._all] is not None

    def read(self) -> tuple[T, ...]:
        """Decode the events that were found. Raises UpstreamError."""
        found = self._batch[self._all]
        if found is None and self._first is not None:
            found = self._batch[self._first]
        return found or ()
