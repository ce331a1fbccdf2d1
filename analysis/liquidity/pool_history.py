"""Pool history: the events of a pool, or of another contract, since the pool began, or of its first
blocks where a node refuses to search them all."""

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

import msgspec

from analysis.liquidity.holdings import log_query
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
    """The answers to queries for one kind of events, in one batch."""

    def __init__(
        self, batch: ReadBatch, queries: Sequence[RequestHandle[tuple[T, ...] | None]]
    ) -> None:
        """`queries`: for all blocks, then for fewer and fewer."""
        self._batch = batch
        self._queries = queries

    @property
    def is_whole(self) -> bool:
        """True if all blocks were searched. Raises UpstreamError."""
        return self._batch[self._queries[0]] is not None

    def read(self) -> tuple[T, ...]:
        """Decode the events that were found. Raises UpstreamError."""
        answers = (self._batch[query] for query in self._queries)
        return next((found for found in answers if found is not None), ())


class PoolSpan(msgspec.Struct, frozen=True, kw_only=True):
    """A pool, and the blocks in which its events are searched."""

    pool: Candidate
    from_block: int | None
    """Block of its creation. None: not known, so the exchange's first, or 0."""
    to_block: int

    def ask(
        self,
        batch: ReadBatch,
        topics: Sequence[object],
        *,
        address: Address | None = None,
        returns: Callable[[RpcAnswer], tuple[T, ...] | None],
    ) -> PoolHistory[T]:
        """Add the queries for events. `address`: whose; None: the pool's. `returns`: decoder; None:
        the node refused."""
        created, last = self.from_block, self.to_block
        first = (self.pool.dex.from_block or 0) if created is None else created
        ends = [last]
        if created is not None:
            ends += [created + count - 1 for count in FIRST_BLOCKS if created + count <= last]
        queries = (
            log_query(address or self.pool.pool, topics, from_block=min(first, end), to_block=end)
            for end in ends
        )
        return PoolHistory(batch, [batch.request(query, returns=returns) for query in queries])
