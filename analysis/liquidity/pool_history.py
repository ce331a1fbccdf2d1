"""Pool history: the events of a pool, or of another contract, since the pool began, or of its first
blocks where a node refuses to search them all."""

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from analysis.liquidity.holdings import history_query
from analysis.market.venues.pool import Candidate
from analysis.reads.chain_reads import RequestHandle
from analysis.reads.read_batch import ReadBatch
from core.primitives import Address
from core.rpc.messages import RpcAnswer

FIRST_BLOCKS: Final = (500, 5)
"""Blocks from a pool's creation on that are searched alone too, each so many: nodes that refuse
more allow one of them, and most liquidity of a young pool came in them."""

T = TypeVar("T")


class PoolHistory(Generic[T]):
    """Queries of one kind of events, in one batch."""

    def __init__(
        self,
        batch: ReadBatch,
        pool: Candidate,
        topics: Sequence[object],
        *,
        address: Address | None = None,
        from_block: int | None,
        to_block: int,
        returns: Callable[[RpcAnswer], tuple[T, ...] | None],
    ) -> None:
        """`address`, `from_block`: as of `history_query`. `returns`: decoder; None: the node
        refused."""
        self._batch = batch

        def ask(last: int) -> RequestHandle[tuple[T, ...] | None]:
            query = history_query(
                pool, topics, address=address, from_block=from_block, to_block=last
            )
            return batch.request(query, returns=returns)

        self._all = ask(to_block)
        self._first = [
            ask(from_block + count - 1)
            for count in FIRST_BLOCKS
            if from_block is not None and from_block + count <= to_block
        ]

    @property
    def is_whole(self) -> bool:
        """True if all blocks were searched. Raises UpstreamError."""
        return self._batch[self._all] is not None

    def read(self) -> tuple[T, ...]:
        """Decode the events that were found. Raises UpstreamError."""
        answers = (self._batch[handle] for handle in (self._all, *self._first))
        return next((found for found in answers if found is not None), ())
